"""Two policies over several rounds: the ratio of their sums, and how far it could be off."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

RESAMPLES = 2000
SEED = 0
COVERED = 0.95


class Ratio(Struct, frozen=True):
    """A ratio of sums with its 95 % interval by a bootstrap over the rounds; a single round has none."""

    value: float
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        interval = "" if self.low is None or self.high is None else f", {self.low - 1:+.0%} to {self.high - 1:+.0%}"
        return f"{self.value - 1:+.0%}{interval}"


def ratio_of_sums(rounds: Sequence[tuple[float, float]]) -> Ratio:
    """Ours over theirs, given both of every round; long rounds count for more than short ones."""
    one, other = np.array(rounds).T
    value = float(one.sum() / other.sum())
    if len(one) < 2:
        return Ratio(value)
    drawn = np.random.default_rng(SEED).integers(len(one), size=(RESAMPLES, len(one)))
    ratios = one[drawn].sum(axis=1) / other[drawn].sum(axis=1)
    low, high = np.quantile(ratios, [(1.0 - COVERED) / 2.0, (1.0 + COVERED) / 2.0])
    return Ratio(value, float(low), float(high))

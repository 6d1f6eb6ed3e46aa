"""How far every job is from its milestones: a distribution over the iterations still to go.

For each milestone (90 % of the loss reduction, 95 %, the end) a logistic regression says how likely it is reached
within h further iterations: P(remaining ≤ h) = σ(score). The score is linear in the signs of the history, in functions
of the horizon h, and in their products. `slaq bench learn --what remaining` finds the coefficients from recorded runs.
"""

from dataclasses import dataclass

import numpy as np

from slaq.model import BoolArray, FloatArray
from slaq.predict.learned_remaining import MEAN, SPREAD, WEIGHTS
from slaq.predict.series import Matrix

MILESTONES = (0.9, 0.95, 1.0)
"""Shares of a job's whole loss reduction; the last is its end."""

GRID = np.array(
    [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096], dtype=np.float64
)
"""Horizons at which the distributions are evaluated; between them they are straight over log(1 + h)."""

LOW, MIDDLE, HIGH = 0.1, 0.5, 0.9
"""The quantiles that are told."""

_SCALE = np.log1p(GRID)
_MEAN, _SPREAD, _WEIGHTS = np.array(MEAN)[:, None], np.array(SPREAD)[:, None], np.array(WEIGHTS)


@dataclass(frozen=True, slots=True)
class Remaining:
    """Iterations to each of MILESTONES, and how likely each is behind; milestones × jobs."""

    low: Matrix
    middle: Matrix
    """The median; 0 where the milestone is more likely behind than ahead."""
    high: Matrix
    past: Matrix

    def put_off(self, jobs: BoolArray, left: FloatArray) -> "Remaining":
        """The same with every milestone of these jobs at the very end."""
        low, middle, high = (np.where(jobs, left, part) for part in (self.low, self.middle, self.high))
        return Remaining(low, middle, high, np.where(jobs, 0.0, self.past))

    def consistent(self, share: FloatArray) -> FloatArray:
        """A share of the whole loss reduction, kept between the milestones that are behind and those that are ahead."""
        low, high = np.zeros_like(share), np.ones_like(share)
        for milestone, away in zip(MILESTONES[:-1], self.middle, strict=False):
            low = np.where(away == 0.0, milestone, low)
            high = np.where(away > 0.0, np.minimum(high, np.nextafter(milestone, 0.0)), high)
        return np.clip(share, low, np.maximum(high, low))


def basis(horizon: FloatArray, left: FloatArray) -> FloatArray:
    """The functions of the horizon that are multiplied with the signs, then those that stand alone; 6 × …"""
    size, part = np.log1p(horizon) - 2.0, np.log((horizon + 1.0) / (left + 1.0))
    none = (horizon == 0.0).astype(np.float64)
    return np.stack(np.broadcast_arrays(np.ones_like(part), size, part, none, size**2, part**2))


PRODUCTS = 4
"""Functions of `basis` that are multiplied with the signs."""


def standardised(signs: FloatArray) -> FloatArray:
    """Signs (signs × jobs) with the mean and spread that they had when the weights were learned."""
    scaled: FloatArray = (signs - _MEAN) / _SPREAD
    return scaled


def remaining(signs: FloatArray, left: FloatArray) -> Remaining:
    """The distributions of all jobs; `signs` has a row for each sign, `left` the iterations to the end at most."""
    inputs = standardised(signs)
    functions = basis(GRID[:, None], left)
    # A milestone is behind no sooner than the one before it.
    likely = np.minimum.accumulate([cdf(weights, inputs, functions, left) for weights in _WEIGHTS])
    low, middle, high = (np.array([_quantile(each, left, q) for each in likely]) for q in (LOW, MIDDLE, HIGH))
    return Remaining(low, middle, high, np.array([each[0] for each in likely]))


def cdf(weights: FloatArray, inputs: FloatArray, functions: FloatArray, left: FloatArray) -> FloatArray:
    """P(remaining ≤ h) at each of GRID; horizons × jobs. It never falls, and is 1 from `left` on."""
    count = len(inputs)
    # einsum instead of a matrix product: the distribution of a job must not depend on which other jobs there are.
    linear = np.einsum("fs,sj->fj", weights[: PRODUCTS * count].reshape(PRODUCTS, count), inputs)
    score = np.einsum("fhj,fj->hj", functions[:PRODUCTS], linear)
    score += np.einsum("fhj,f->hj", functions[PRODUCTS:], weights[PRODUCTS * count :])
    likely = 1.0 / (1.0 + np.exp(-np.clip(score, -40.0, 40.0)))
    np.maximum.accumulate(likely, axis=0, out=likely)
    return np.where(GRID[:, None] >= left, 1.0, likely)


def _quantile(likely: FloatArray, left: FloatArray, q: float) -> FloatArray:
    """The first iteration at which the distribution reaches q; horizons beyond `left` count as `left`."""
    jobs = np.arange(likely.shape[1])
    after = np.clip(np.count_nonzero(likely < q, axis=0), 1, len(GRID) - 1)
    below, above = likely[after - 1, jobs], likely[after, jobs]
    part = np.clip((q - below) / np.maximum(above - below, 1e-12), 0.0, 1.0)
    iterations = np.ceil(np.expm1(_SCALE[after - 1] + part * (_SCALE[after] - _SCALE[after - 1])) - 1e-9)
    return np.where(likely[0] >= q, 0.0, np.minimum(iterations, left))

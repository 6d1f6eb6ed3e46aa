"""Where a noisy loss stands without its noise: means, the best of late, and a trend that need not touch the end."""

from collections.abc import Callable

import numpy as np

from slaq.predict.curves import PowerLaw
from slaq.predict.series import Matrix
from slaq.predict.window import Window

TREND_DECAY = 0.9
"""Weight of a loss in the trend relative to the next newer one."""

TREND_POWERS: dict[float, Callable[[Matrix], Matrix]] = {0.5: np.sqrt, 1.0: np.positive, 2.0: np.square}
"""How fast the trend may level off: as with the square root of the iterations, with them, or with their square."""

STEEP = 50.0
"""Largest value of (iterations so far) / (iteration) in the trend: the very first losses do not rule it."""

RECENT = 8
"""Losses among which `best` looks."""


def mean(window: Window, known: Matrix, decay: float) -> Matrix:
    """The weighted mean of the losses, each counting `decay` times the next newer one."""
    weights = decay ** np.arange(float(len(known)))
    level: Matrix = np.einsum("a,aj->j", weights, known * window.losses) / np.einsum("a,aj->j", weights, known)
    return level


def best(window: Window) -> Matrix:
    """The lowest of the last losses: where a loss comes back to after a jump."""
    return np.asarray(window.losses[:RECENT].min(axis=0))


def trend(window: Window, known: Matrix) -> tuple[Matrix, PowerLaw]:
    """The best weighted fit of a + b / iteration^power: its value now, and how it goes on."""
    age = np.arange(float(len(known)))[:, None]
    weights = known * TREND_DECAY**age
    weights /= weights.sum(axis=0)
    middle = products(weights, window.losses)
    inverse = np.minimum(window.points / np.maximum(window.points - age, 1.0), STEEP)
    explained, level, pace, power = (np.full_like(middle, start) for start in (-1.0, 0.0, 0.0, 1.0))
    for candidate, raised in TREND_POWERS.items():
        curve = raised(inverse)
        weighted = weights * curve
        centre = weighted.sum(axis=0)
        variance = np.maximum(products(weighted, curve) - centre**2, 1e-12)
        slope = np.maximum((products(weighted, window.losses) - centre * middle) / variance, 0.0)
        better = slope**2 * variance > explained
        explained = np.where(better, slope**2 * variance, explained)
        level = np.where(better, middle + slope * (1.0 - centre), level)
        pace = np.where(better, slope * candidate / window.points, pace)
        power = np.where(better, candidate, power)
    return level, PowerLaw(pace, power + 1.0)


def products(rows: Matrix, others: Matrix) -> Matrix:
    """The sum of the products of each column, without a matrix in between."""
    return np.asarray(np.einsum("aj,aj->j", rows, others))

"""The curve through many drops at once: an exponentially weighted regression (SLAQ §4.2) of their logarithms."""

import numpy as np

from slaq.predict.curves import STEEPEST, PowerLaw
from slaq.predict.levels import products
from slaq.predict.series import Matrix
from slaq.predict.stretches import UNKNOWN_EXPONENT
from slaq.predict.window import Window

DECAY = 0.8
"""Weight of a drop relative to the next newer one, as in the paper."""

REACH = 24
"""Drops a regression looks at; an older one would weigh less than 0.5 %."""


def log_drops(window: Window) -> tuple[Matrix, Matrix]:
    """The logarithm of each recent drop, and 1 where there is one; rises and standstills have neither."""
    drops = window.drops[:REACH]
    falling = drops > 0.0
    return np.log(np.where(falling, drops, 1.0)), falling.astype(np.float64)


def regression(window: Window, logs: Matrix, falling: Matrix) -> PowerLaw:
    """The power law that follows the recent drops best."""
    age = np.arange(float(len(logs)))[:, None]
    weights = falling * DECAY**age
    weights /= np.maximum(weights.sum(axis=0), 1e-12)
    iteration = np.log(np.maximum(1.0 - age / window.points, 1.0 / window.points))
    weighted = weights * iteration
    centre, middle = weighted.sum(axis=0), products(weights, logs)
    variance = products(weighted, iteration) - centre**2
    slope = (products(weighted, logs) - centre * middle) / np.maximum(variance, 1e-12)
    drops = falling.sum(axis=0)
    exponent = np.where(drops >= 2.0, np.clip(-slope, 0.0, STEEPEST), UNKNOWN_EXPONENT)
    return PowerLaw(np.where(drops >= 1.0, np.exp(middle + exponent * centre), 0.0), exponent)

"""Weighted max-min fairness between a lower and an upper bound, solved exactly."""

import numpy as np

from slaq.model import FloatArray


def water_fill(capacity: float, weight: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Shares clip(level·weight, low, high) with the one level at which they add up to `capacity`.

    With more capacity than all can use, everyone gets `high`; `low` is kept in any case.
    """
    if high.sum() <= capacity:
        return high.copy()
    if low.sum() >= capacity:
        return low.copy()
    # The total is piecewise linear in the level and bends at low/weight and high/weight. Halving finds the two bends
    # around the capacity with sums of shares only: running sums of weights would lose small ones beside large ones.
    levels = np.sort(np.concatenate([low / weight, high / weight]))
    below, above = 0, len(levels) - 1
    while above - below > 1:
        middle = (below + above) // 2
        if _at(levels[middle], weight, low, high).sum() <= capacity:
            below = middle
        else:
            above = middle
    less, more = _at(levels[below], weight, low, high), _at(levels[above], weight, low, high)
    part = (capacity - less.sum()) / (more.sum() - less.sum())
    shares: FloatArray = less + part * (more - less)
    return shares


def _at(level: float, weight: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    shares: FloatArray = np.clip(level * weight, low, high)
    return shares

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
    # The total is piecewise linear in the level: it gains slope `weight` at low/weight and loses it at high/weight.
    levels = np.concatenate([low / weight, high / weight])
    order = np.argsort(levels, kind="stable")
    levels = levels[order]
    slope = np.cumsum(np.concatenate([weight, -weight])[order])
    total = low.sum() + np.concatenate([[0.0], np.cumsum(slope[:-1] * np.diff(levels))])
    at = int(np.searchsorted(total, capacity, side="right")) - 1
    following = levels[min(at + 1, len(levels) - 1)]
    level = min(levels[at] + (capacity - total[at]) / slope[at], following) if slope[at] > 0.0 else levels[at]
    shares: FloatArray = np.clip(level * weight, low, high)
    return shares

"""Curves through the last two stretches of a history: how far the loss fell in each, and so how fast it slows."""

import numpy as np

from slaq.predict.curves import FASTEST, SLOWEST, STEEPEST, Geometric, PowerLaw
from slaq.predict.series import Matrix
from slaq.predict.window import Window

STILL = 1e-8
"""Smallest ratio between the falls of two stretches that is told from none."""

UNKNOWN_EXPONENT, UNKNOWN_RATIO = 2.0, 0.7
"""How a loss slows down when only one drop is known."""


def power_law(window: Window, longest: int) -> PowerLaw:
    """The power law through the last two stretches of up to `longest` iterations."""
    length, fall, slowing = _stretches(window, longest)
    points = window.points
    middle = points - 0.5 * length + 0.5
    before = np.maximum(points - 1.5 * length + 0.5, 0.3)
    exponent = np.clip(-np.log(slowing) / np.log(middle / before), 0.0, STEEPEST)
    exponent[points < 3] = UNKNOWN_EXPONENT
    pace = np.maximum(fall, 0.0) / length * (middle / points) ** exponent
    return PowerLaw(pace, exponent)


def geometric(window: Window, longest: int) -> Geometric:
    """The geometric curve through the last two stretches of up to `longest` iterations."""
    length, fall, slowing = _stretches(window, longest)
    ratio = np.clip(slowing ** (1.0 / length), FASTEST, SLOWEST)
    ratio[window.points < 3] = UNKNOWN_RATIO
    # The fall of a stretch is pace·(1 + 1/ratio + 1/ratio² …), its drops counted back from the newest.
    pace = np.maximum(fall, 0.0) * (1.0 - 1.0 / ratio) / (1.0 - ratio**-length)
    return Geometric(pace, ratio)


def straight(window: Window) -> PowerLaw:
    """The newest drop, repeated without end: what a loss does that has not begun to slow down."""
    return PowerLaw(np.maximum(window.drops[0], 0.0), np.zeros_like(window.points))


def slowing(window: Window, exponent: float, longest: int) -> PowerLaw:
    """A power law of known exponent that falls as the last stretch did; it cannot be fooled by a change of pace."""
    length = np.clip(window.points - 1.0, 1.0, longest)
    fall = _at(window.losses, length)
    pace = np.maximum(fall, 0.0) / length * ((window.points - 0.5 * length + 0.5) / window.points) ** exponent
    return PowerLaw(pace, np.full_like(window.points, exponent))


def _stretches(window: Window, longest: int) -> tuple[Matrix, Matrix, Matrix]:
    """Length of a stretch, fall in the newest one, and its ratio to the one before (at most 1, never 0)."""
    longest = min(longest, (len(window.losses) - 1) // 2)
    length = np.clip((window.points - 1.0) // 2.0, 1.0, max(longest, 1))
    fall = _at(window.losses, length)
    earlier = _at(window.losses, 2.0 * length) - fall
    falling = (fall > 0.0) & (earlier > 0.0)
    ratio = np.where(falling, fall / np.where(falling, earlier, 1.0), np.where(fall > 0.0, 1.0, STILL))
    return length, fall, np.clip(ratio, STILL, 1.0)


def _at(losses: Matrix, age: Matrix) -> Matrix:
    """The loss of each job at its own age."""
    rows = np.minimum(age.astype(np.intp), len(losses) - 1)
    return np.asarray(losses[rows, np.arange(losses.shape[1])])

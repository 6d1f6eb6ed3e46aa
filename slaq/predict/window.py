"""The recent past of all jobs in units of their own movement, where every formula of the forecaster starts."""

from dataclasses import dataclass

import numpy as np

from slaq.predict.series import Mask, Matrix, Series

SMALLEST = 1e-30
"""Distances below this share of a job's movement are 0; ratios of smaller numbers would overflow."""


@dataclass(frozen=True, slots=True)
class Window:
    """Losses relative to the newest one and divided by their spread, newest first; rows × jobs."""

    losses: Matrix
    drops: Matrix
    """How far the loss fell in each iteration, newest first; 0 where the history does not reach back that far."""
    points: Matrix
    """Losses per job, also those before the window: the iteration the job is in."""
    newest: Matrix
    spread: Matrix

    @property
    def known(self) -> Mask:
        """Which losses are real; older cells repeat the oldest one."""
        rows = np.arange(len(self.losses), dtype=np.float64)
        return np.asarray(rows[:, None] < self.points)


def look_back(series: Series) -> Window:
    """The window over the end of all histories."""
    newest = series.losses[0]
    losses = series.losses - newest
    spread = np.abs(losses).max(axis=0)
    spread[spread == 0.0] = 1.0
    losses /= spread
    losses[np.abs(losses) < SMALLEST] = 0.0
    return Window(losses, losses[1:] - losses[:-1], np.maximum(series.points, 1.0), newest, spread)

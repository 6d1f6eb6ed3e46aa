"""What the work ahead is worth to a job that is to reach milestones, the sooner the better.

Several jobs, each a chain of milestones with a value and the work until it: to reach them early on average, the
best order on one machine is by *density*. Of a job's milestones ahead take the one, however far, for which the
value collected by then is largest per unit of work; run the job with the largest such density; from there on
begin again (Sidney 1975, for chains). That order is what handing out cores by marginal value does, if the
value of work is the smallest concave curve above the milestones. This module draws that curve.
"""

from collections.abc import Sequence

import numpy as np

from slaq.model import FloatArray, IntArray

SOONEST = 1e-6
"""Work that a milestone is away at least."""


class Milestones:
    """For every job the value of the work ahead: concave, piecewise linear, flat after the last milestone."""

    def __init__(self, away: Sequence[FloatArray], value: Sequence[FloatArray] | FloatArray) -> None:
        """`away[m]`: work until milestone m; `value[m]`: what it is worth to reach it, 0 where a job has passed it."""
        begin = np.zeros(len(away[0]))
        at = np.maximum.accumulate(np.where(np.array(value) > 0.0, np.maximum(away, SOONEST), 0.0), axis=0)
        self._at, self._worth = _hull(np.vstack([begin, at]).T, np.vstack([begin, np.cumsum(value, axis=0)]).T)

    def value(self, job: IntArray, work: FloatArray) -> FloatArray:
        """What so much more work is worth to jobs, by position."""
        total = np.zeros(np.broadcast_shapes(job.shape, work.shape))
        for i in range(self._at.shape[1] - 1):
            begin, end = self._at[job, i], self._at[job, i + 1]
            part = np.clip((work - begin) / np.maximum(end - begin, SOONEST), 0.0, 1.0)
            total += part * (self._worth[job, i + 1] - self._worth[job, i])
        return total


def _hull(at: FloatArray, worth: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The corners of the smallest concave curve above each row's points, the last one repeated."""
    rows = np.arange(len(at))
    corner = np.zeros(len(at), dtype=np.int64)
    corners = [corner]
    for _ in range(at.shape[1] - 1):
        run = at - at[rows, corner][:, None]
        density = np.where(run > 0.0, (worth - worth[rows, corner][:, None]) / np.where(run > 0.0, run, 1.0), 0.0)
        best = np.argmax(density, axis=1)
        corner = np.where(density[rows, best] > 0.0, best, corner)
        corners.append(corner)
    chosen = np.array(corners).T
    return np.take_along_axis(at, chosen, axis=1), np.take_along_axis(worth, chosen, axis=1)

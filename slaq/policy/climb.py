"""Handing out cores one by one to whoever values the next one most, without a heap.

A heap that always serves the job with the highest value for its next core (SLAQ, Algorithm 1) serves a
core no later than any earlier core of the same job that was worth less: after that one, it comes up at
once. So a core is served at the *smallest* value among it and its job's cores before it, and the first
K cores served are the K largest of those prefix minima, ties going to the job that arrived first. That is
a selection, not a sequence, and a selection can be done for all jobs at once. It looks only as far ahead
into each job as the selection reaches, in blocks that double.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from slaq.model import FloatArray, IntArray

FIRST_BLOCK = 4
"""Cores looked at per job at first."""

Value = Callable[[IntArray, FloatArray], FloatArray]
"""value(job, cores): what the next core is worth to jobs that hold `cores`; finite.

`job` is a column, `cores` has a row for each of them that rises by one from cell to cell."""


def marginal(total: Value) -> Value:
    """The worth of the next core, where `total(job, cores)` is the worth of them all."""

    def value(job: IntArray, cores: FloatArray) -> FloatArray:
        return np.diff(total(job, np.hstack([cores, cores[:, -1:] + 1.0])), axis=1)

    return value


@dataclass(frozen=True, slots=True)
class Climb:
    """Cores won by each job, and the value of the last one handed out (0 if there was none)."""

    won: FloatArray
    cutoff: float


def climb(value: Value, start: FloatArray, cap: FloatArray, budget: float) -> Climb:
    """Hand out `budget` cores to jobs that hold `start` and can use `cap`; a fraction goes out last."""
    room = np.floor(np.maximum(cap - start, 0.0) + 1e-9).astype(np.int64)
    count = min(int(np.ceil(budget - 1e-9)), int(room.sum()))
    won = np.zeros(len(start))
    if count <= 0:
        return Climb(won, 0.0)
    taken, cutoff, last = _select(value, start, room, count)
    won += taken
    if count > budget:
        won[last] -= count - budget
    return Climb(won, cutoff)


def _select(value: Value, start: FloatArray, room: IntArray, count: int) -> tuple[IntArray, float, int]:
    """How many of the `count` most valued cores each job takes, the smallest value taken, and by whom last."""
    jobs = len(start)
    depth = np.zeros(jobs, dtype=np.int64)
    lowest = np.full(jobs, np.inf)
    pool_value, pool_job = np.empty(0), np.empty(0, dtype=np.int64)
    reach, block = np.flatnonzero(room > 0), FIRST_BLOCK
    while True:
        found, owner = _look_further(value, start, room, reach, block, depth, lowest)
        pool_value, pool_job = np.concatenate([pool_value, found]), np.concatenate([pool_job, owner])
        if len(pool_value) >= count:
            cutoff = float(np.partition(pool_value, -count)[-count])
            taken, last = _count(pool_value, pool_job, cutoff, count, jobs)
            # Only a job that took all it was asked about can take more than it was asked about.
            reach = np.flatnonzero((taken == depth) & (depth < room))
            if not len(reach):
                return taken, cutoff, last
        else:
            reach = np.flatnonzero(depth < room)
        block *= 2


def _look_further(
    value: Value,
    start: FloatArray,
    room: IntArray,
    reach: IntArray,
    block: int,
    depth: IntArray,
    lowest: FloatArray,
) -> tuple[FloatArray, IntArray]:
    """The prefix minima of the next `block` cores of the jobs in `reach`; updates `depth` and `lowest`."""
    ahead = np.arange(block)
    position = depth[reach][:, None] + ahead
    owner = np.repeat(reach, block)
    values = value(reach[:, None], start[reach][:, None] + position)
    minima = np.minimum.accumulate(np.minimum(values, lowest[reach][:, None]), axis=1)
    usable = position < room[reach][:, None]
    depth[reach] = np.minimum(depth[reach] + block, room[reach])
    lowest[reach] = minima[:, -1]
    return minima[usable], owner[usable.ravel()]


def _count(values: FloatArray, owner: IntArray, cutoff: float, count: int, jobs: int) -> tuple[IntArray, int]:
    """Cores per job among the `count` largest values, equal ones going to earlier jobs; and the last taker."""
    above = np.bincount(owner[values > cutoff], minlength=jobs)
    equal = np.bincount(owner[values == cutoff], minlength=jobs)
    left = count - int(above.sum())
    ties = np.clip(left - (np.cumsum(equal) - equal), 0, equal)
    return above + ties, int(np.flatnonzero(ties)[-1])

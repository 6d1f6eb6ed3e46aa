"""How long an iteration takes on N cores: c·S/N, plus a serial part when the data shows one.

c is the CPU time per unit of data and S the data of an iteration (SLAQ §4.2.1). Because CPU time does
not depend on N, c is learned without knowing how N varied. What is left of the wall-clock time once
CPU/N is taken off is the serial and communication part of §7. Medians keep stragglers out of both, and are taken over
means of two iterations in a row: some algorithms learn two losses at a time, a boosted tree's with the next tree's.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from slaq.model import FloatArray, History, IntArray
from slaq.model.history import COSTS_KEPT

SERIAL_SHARE = 0.1
"""A serial part below this share of an iteration is taken for noise."""

LARGEST_COST = 1e15
"""Costs beyond this (seconds, cores or data) are taken for a mistake and left out."""

LEAST_WORK_CORE_S = 1e-9
"""No iteration is taken to cost less, whatever its report says."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """Seconds per iteration = serial_s + work_core_s / cores, one entry per job; NaN where nothing is known."""

    work_core_s: FloatArray
    serial_s: FloatArray

    def iterations(self, job: IntArray, cores: FloatArray, epoch_s: float) -> FloatArray:
        """Iterations (and parts of one) that each job completes in an epoch; none without a core."""
        held = np.maximum(cores, 0.0)
        return epoch_s * held / (self.serial_s[job] * held + self.work_core_s[job])


def learn_runtime(histories: Iterable[History]) -> Runtime:
    """The runtime model of every job, from the costs of its latest iterations."""
    flat = np.frombuffer(b"".join([history.packed_costs for history in histories]))
    costs = np.where((flat >= 0.0) & (flat <= LARGEST_COST), flat, np.nan).reshape(-1, COSTS_KEPT, 4)
    wall_s, cpu_s, cores, size = costs[:, :, 0], costs[:, :, 1], costs[:, :, 2], costs[:, :, 3]
    with np.errstate(all="ignore"):
        cores = np.where(cores > 0.0, cores, np.nan)
        size = np.where(size > 0.0, size, np.nan)
        by_size = _median(cpu_s / size) * size[:, -1]
        serial_s = _usual(wall_s - cpu_s / cores)
        shown = serial_s > SERIAL_SHARE * _median(wall_s)
    # Without CPU time all of the held cores' time counts as work.
    work = _first_known(by_size, _usual(cpu_s), _usual(wall_s * cores))
    return Runtime(np.where(work > 0.0, np.maximum(work, LEAST_WORK_CORE_S), np.nan), np.where(shown, serial_s, 0.0))


def _first_known(*columns: FloatArray) -> FloatArray:
    known = columns[0]
    for column in columns[1:]:
        known = np.where(np.isnan(known), column, known)
    return known


def _usual(rows: FloatArray) -> FloatArray:
    """The median of the means of neighbours in each row; an entry whose neighbour is not known stands for both."""
    one, other = rows[:, :-1], rows[:, 1:]
    return _median(np.where(np.isnan(one), other, np.where(np.isnan(other), one, (one + other) / 2.0)))


def _median(rows: FloatArray) -> FloatArray:
    """The lower median of each row's known entries; NaN for a row without one."""
    if not len(rows):
        return np.empty(0)
    ordered = np.sort(rows, axis=1)  # NaN goes last
    known = np.count_nonzero(~np.isnan(rows), axis=1)
    return np.take_along_axis(ordered, np.maximum(known - 1, 0)[:, None] // 2, axis=1)[:, 0]

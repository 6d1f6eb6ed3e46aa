"""How long an iteration takes on N cores: serial_s + work_core_s / N (SLAQ §4.2.1, and §7 for the serial part).

Drivers report both parts of every iteration: the core-seconds that its tasks held, and the seconds in which it had no
stage to run. Medians keep stragglers out, and are taken over means of two iterations in a row: some algorithms learn
two losses at a time, a boosted tree's with the next tree's.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from slaq.model import FloatArray, History, IntArray
from slaq.model.history import COSTS_KEPT

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
    costs = np.frombuffer(b"".join([history.packed_costs for history in histories])).reshape(-1, COSTS_KEPT, 2)
    work, serial = usual(costs[:, :, 0]), usual(costs[:, :, 1])
    return Runtime(np.where(work > 0.0, np.maximum(work, LEAST_WORK_CORE_S), np.nan), np.nan_to_num(serial))


def measured(histories: Iterable[History]) -> FloatArray:
    """Of how many of its latest iterations each job knows the work."""
    costs = np.frombuffer(b"".join([history.packed_costs for history in histories])).reshape(-1, COSTS_KEPT, 2)
    return np.asarray(np.count_nonzero(~np.isnan(costs[:, :, 0]), axis=1), dtype=np.float64)


def usual(rows: FloatArray) -> FloatArray:
    """The lower median of the means of neighbours in each row; NaN for a row without a known entry.

    An entry whose neighbour is not known stands for both.
    """
    one, other = rows[:, :-1], rows[:, 1:]
    means = np.where(np.isnan(one), other, np.where(np.isnan(other), one, (one + other) / 2.0))
    ordered = np.sort(means, axis=1)  # NaN goes last
    known = np.count_nonzero(~np.isnan(means), axis=1)
    return np.take_along_axis(ordered, np.maximum(known - 1, 0)[:, None] // 2, axis=1)[:, 0]

"""What it costs `oasis` to decide about one more job while thousands have plans."""

import statistics
import time

import numpy as np

from slaq import policy
from slaq.model import FloatArray, IntArray, Job, Snapshot, Tuning
from slaq.policy.oasis import Memory, Promise

WIDEST = 64
FILLED = 0.6
"""Of the cores in all slots, about so many are promised."""


class WorkAhead:
    """An outlook that knows nothing but the work of each job: what comes before a policy is not timed here."""

    def __init__(self, core_s: FloatArray) -> None:
        self._core_s = core_s

    def reduction(self, job: IntArray, cores: FloatArray) -> FloatArray:  # noqa: ARG002
        return np.zeros(cores.shape)

    loss = ahead = worked = reduction

    def reached(self) -> FloatArray:
        return np.zeros(len(self._core_s))

    def until(self, share: float) -> FloatArray:
        return np.full(len(self._core_s), share)

    def work_ahead(self, share: float) -> tuple[FloatArray, FloatArray]:
        return np.ones(len(self._core_s)), self._core_s * share


def arrival_s(jobs: int, cores: int, repeats: int) -> tuple[float, float]:
    """CPU seconds of a whole decision with an arrival among so many planned jobs, and of one without."""
    random, tuning = np.random.default_rng(7), Tuning()
    slots, slot_s = int(tuning.plan_slots), tuning.plan_slot_s
    length = np.maximum((FILLED * cores * slots / jobs / random.uniform(2.0, WIDEST, jobs)).astype(int), 1)
    length = np.minimum(length, slots)
    width = np.maximum((FILLED * cores * slots / jobs / length).astype(int), 1)
    start = (random.uniform(0.0, 1.0, jobs) * (slots - length)).astype(int)
    promises = {
        f"job-{i}": Promise(0, (0,) * int(start[i]) + (int(width[i]),) * int(length[i]), 1.0, 0.0) for i in range(jobs)
    }
    drawn = random.uniform((1.0, 300.0), (100.0, 3000.0), (jobs, 2)).tolist()
    planned = [
        Job(f"job-{i}", max_cores=float(WIDEST), utility=(worth, 0.1, target_s))
        for i, (worth, target_s) in enumerate(drawn)
    ]
    arrival = Job("new", max_cores=float(WIDEST), utility=(50.0, 0.1, 600.0))
    core_s = (width * length).astype(float) * slot_s
    memory = Memory(promises)
    without = Snapshot(tuple(planned), cores, WorkAhead(core_s), 1.0, 1.0, tuning)
    new = Snapshot((*planned, arrival), cores, WorkAhead(np.append(core_s, 60.0 * slot_s)), 1.0, 1.0, tuning)
    assert "new" in policy.get("oasis").allocate(new, memory)[1].promises
    return _median_s(new, memory, repeats), _median_s(without, memory, repeats)


def _median_s(snapshot: Snapshot, memory: Memory, repeats: int) -> float:
    allocate, times = policy.get("oasis").allocate, []
    for _ in range(repeats):
        began = time.process_time()
        allocate(snapshot, memory)
        times.append(time.process_time() - began)
    return statistics.median(times)

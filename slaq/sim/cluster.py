"""The simulated cluster: how far every job has come, all jobs at once."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slaq.engine import Event, JobLeft, JobReported, JobSeen
from slaq.model import FloatArray, IntArray, Iteration, Job
from slaq.sim.workload import Workload


@dataclass(frozen=True, slots=True)
class Finished:
    """Iterations finished in one epoch, ordered by job and iteration; columns of equal length."""

    job: IntArray
    iteration: IntArray
    wall_s: FloatArray
    cpu_s: FloatArray
    cores: FloatArray
    """Mean number of cores held during the iteration."""


class Cluster:
    """Progress of all jobs of a workload; `advance` moves the active ones on by one epoch."""

    def __init__(self, workload: Workload, switch_s: float = 0.0) -> None:
        count = len(workload)
        self.workload = workload
        self.switch_s = switch_s
        self.progress = np.zeros(count)
        """Work done so far, in average iterations of the job."""
        self.done = np.zeros(count, dtype=np.int64)
        """Iterations finished."""
        self.cores = np.zeros(count)
        self.attained_core_s = np.zeros(count)
        self.finish_s = np.full(workload.losses.shape, np.nan)
        """When each iteration was finished; NaN: not yet."""
        self._index = {name: i for i, name in enumerate(workload.names)}
        self._last_finish_s = workload.arrival_s.copy()
        self._held_core_s = np.zeros(count)

    def index(self, jobs: Sequence[Job]) -> IntArray:
        """Positions of the engine's jobs in the workload."""
        return np.array([self._index[job.id] for job in jobs], dtype=np.int64)

    def advance(self, active: IntArray, cores: FloatArray, now_s: float, epoch_s: float) -> Finished:
        """Run the active jobs on these cores for one epoch."""
        rate = self._rate(active, cores, epoch_s)
        before = self.progress[active]
        reached = before + rate * epoch_s
        # A job's cost never falls along its row, so counting replaces a search in each row.
        last = np.count_nonzero(self.workload.cost[active] <= reached[:, None], axis=1) - 1
        last = np.minimum(last, self.workload.length[active])
        first = self.done[active]
        fresh = last - first
        owner = np.repeat(np.arange(len(active)), fresh)
        iteration = np.arange(len(owner)) - np.repeat(np.cumsum(fresh) - fresh, fresh) + first[owner] + 1
        job = active[owner]
        at_s = now_s + (self.workload.cost[job, iteration] - before[owner]) / rate[owner]
        finished = self._costs(job, iteration, at_s, now_s, cores[owner], iteration == first[owner] + 1)
        self.finish_s[job, iteration] = at_s
        self._note_held(active, cores, now_s, epoch_s, fresh, at_s)
        self.progress[active] = reached
        self.done[active] = last
        self.cores[active] = cores
        self.attained_core_s[active] += cores * epoch_s
        return finished

    def _rate(self, active: IntArray, cores: FloatArray, epoch_s: float) -> FloatArray:
        """Average iterations per second of each job."""
        workload = self.workload
        gained = np.maximum(cores - self.cores[active], 0.0)
        useful = np.minimum(cores - gained * min(self.switch_s / epoch_s, 1.0), workload.cap[active])
        with np.errstate(divide="ignore"):
            rate: FloatArray = 1.0 / (workload.serial_s[active] + workload.work_core_s[active] / useful)
        return rate

    def _costs(
        self,
        job: IntArray,
        iteration: IntArray,
        at_s: FloatArray,
        now_s: float,
        cores: FloatArray,
        begun_earlier: np.ndarray,
    ) -> Finished:
        before_s = np.where(begun_earlier, self._last_finish_s[job], np.concatenate([[0.0], at_s])[:-1])
        wall_s = at_s - before_s
        held = cores * np.where(begun_earlier, at_s - now_s, wall_s) + np.where(
            begun_earlier, self._held_core_s[job], 0
        )
        share = self.workload.cost[job, iteration] - self.workload.cost[job, iteration - 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            return Finished(job, iteration, wall_s, self.workload.work_core_s[job] * share, held / wall_s)

    def _note_held(
        self, active: IntArray, cores: FloatArray, now_s: float, epoch_s: float, fresh: IntArray, at_s: FloatArray
    ) -> None:
        """Core-seconds held for the iteration under way, which began with the epoch or with the last finish."""
        some = fresh > 0
        ended_s = at_s[np.cumsum(fresh)[some] - 1]
        self._held_core_s[active] += cores * epoch_s
        self._held_core_s[active[some]] = cores[some] * (now_s + epoch_s - ended_s)
        self._last_finish_s[active[some]] = ended_s

    def over(self, active: IntArray) -> np.ndarray:
        """Which of the active jobs have run their last iteration."""
        return np.asarray(self.done[active] >= self.workload.length[active])

    def reports(self, finished: Finished, now_s: float) -> list[Event]:
        """What the jobs tell the scheduler: one event per training job, with all the iterations it finished.

        The loss before training is known only from the first pass over the data, so it comes with iteration 1, if it
        is known at all.
        """
        workload = self.workload
        told_by: dict[int, list[Iteration]] = {}
        losses = workload.reported[finished.job, finished.iteration]
        columns = (finished.job, losses, finished.iteration, finished.wall_s, finished.cpu_s, finished.cores)
        for job, loss, iteration, wall_s, cpu_s, cores in zip(*(column.tolist() for column in columns), strict=True):
            told = told_by.setdefault(job, [])
            if iteration == 1 and not math.isnan(before := float(workload.reported[job, 0])):
                told.append(Iteration(before, 0))
            told.append(Iteration(loss, iteration, wall_s, cpu_s, cores))
        return [
            JobReported(now_s, workload.names[job], tuple(told)) for job, told in told_by.items() if workload.ml[job]
        ]

    def signs_of_life(self, active: IntArray, now_s: float, epoch_s: float, every_s: float) -> list[Event]:
        """A heartbeat of the jobs that have had nothing to report for a multiple of `every_s`."""
        silent_s = now_s - np.where(self.workload.ml, self._last_finish_s, self.workload.arrival_s)[active]
        due = active[silent_s // every_s > (silent_s - epoch_s) // every_s]
        return [JobSeen(now_s, self.workload.names[job]) for job in due.tolist()]

    def departures(self, gone: IntArray, now_s: float) -> list[Event]:
        """The jobs that are over leave."""
        return [JobLeft(now_s, self.workload.names[job]) for job in gone.tolist()]

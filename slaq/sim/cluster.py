"""The simulated cluster: how far every job has come, all jobs at once."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slaq.engine import Event, JobMoved, JobReported, JobSeen
from slaq.model import BoolArray, FloatArray, IntArray, Job, Report
from slaq.sim.workload import Workload


@dataclass(frozen=True, slots=True)
class Finished:
    """Iterations finished in one epoch, ordered by job and iteration; columns of equal length."""

    job: IntArray
    iteration: IntArray


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
        self.finish_s = np.full(workload.losses.shape, np.nan)
        """When each iteration was finished; NaN: not yet."""
        self._index = {name: i for i, name in enumerate(workload.names)}

    def index(self, jobs: Sequence[Job]) -> IntArray:
        """Positions of the engine's jobs in the workload."""
        return np.array([self._index[job.id] for job in jobs], dtype=np.int64)

    @property
    def held_core_s(self) -> FloatArray:
        """Core-seconds that each job's tasks have held so far: a serial part holds no core."""
        return self.progress * self.workload.work_core_s

    def advance(self, active: IntArray, cores: FloatArray, now_s: float, epoch_s: float) -> Finished:
        """Run the active jobs on these cores for one epoch."""
        rate = self._rate(active, cores, epoch_s)
        before = self.progress[active]
        ends = self.workload.cost[active, self.workload.length[active]]
        reached = np.minimum(before + rate * epoch_s, ends)
        # A job's cost never falls along its row, so counting replaces a search in each row.
        last = np.count_nonzero(self.workload.cost[active] <= reached[:, None], axis=1) - 1
        last = np.minimum(last, self.workload.length[active])
        first = self.done[active]
        fresh = last - first
        owner = np.repeat(np.arange(len(active)), fresh)
        iteration = np.arange(len(owner)) - np.repeat(np.cumsum(fresh) - fresh, fresh) + first[owner] + 1
        job = active[owner]
        self.finish_s[job, iteration] = now_s + (self.workload.cost[job, iteration] - before[owner]) / rate[owner]
        self.progress[active] = reached
        self.done[active] = last
        self.cores[active] = cores
        return Finished(job, iteration)

    def _rate(self, active: IntArray, cores: FloatArray, epoch_s: float) -> FloatArray:
        """Average iterations per second of each job."""
        workload = self.workload
        gained = np.maximum(cores - self.cores[active], 0.0)
        useful = np.minimum(cores - gained * min(self.switch_s / epoch_s, 1.0), workload.cap[active])
        with np.errstate(divide="ignore"):
            rate: FloatArray = 1.0 / (workload.serial_s[active] + workload.work_core_s[active] / useful)
        return rate

    def over(self, active: IntArray) -> BoolArray:
        """Which of the active jobs have run their last iteration."""
        return np.asarray(self.done[active] >= self.workload.length[active])

    def beats(self, active: IntArray, finished: Finished, now_s: float) -> list[Event]:
        """What the drivers of the active jobs send at the end of an epoch: reports, and what their tasks have held."""
        reports = self._reports(finished)
        held_core_s = self.held_core_s
        events: list[Event] = []
        for job in active.tolist():
            name, held = self.workload.names[job], float(held_core_s[job])
            if job in reports:
                events.append(JobReported(now_s, name, tuple(reports[job]), held))
            else:
                events.append(JobSeen(now_s, name, held))
        return events

    def _reports(self, finished: Finished) -> dict[int, list[Report]]:
        """The reports of each training job. The loss before training takes a pass over the data, so it comes with
        iteration 1, if it is known at all."""
        workload = self.workload
        job, iteration = finished.job, finished.iteration
        share = workload.cost[job, iteration] - workload.cost[job, iteration - 1]
        work, serial = workload.work_core_s[job] * share, workload.serial_s[job] * share
        columns = (job, iteration, workload.reported[job, iteration], work, serial)
        reports: dict[int, list[Report]] = {}
        for owner, number, loss, work_core_s, serial_s in zip(*(column.tolist() for column in columns), strict=True):
            if not workload.ml[owner]:
                continue
            mine = reports.setdefault(owner, [])
            if number == 1 and not math.isnan(before := float(workload.reported[owner, 0])):
                mine.append(Report(_finite(before), 0))
            mine.append(Report(_finite(loss), number, work_core_s, serial_s))
        return reports

    def departures(self, gone: IntArray, now_s: float) -> list[Event]:
        """The jobs that are over leave."""
        finishes, names = self.workload.finishes, self.workload.names
        return [JobMoved(now_s, names[job], "finish" if finishes[job] else "fail") for job in gone.tolist()]


def _finite(loss: float) -> float | None:
    """A loss as a driver sends it."""
    return loss if math.isfinite(loss) else None

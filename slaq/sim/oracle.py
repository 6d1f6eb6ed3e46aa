"""The clairvoyant predictor: the true curves and the true cost of iterations."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from slaq.model import FloatArray, IntArray, Job, Tuning
from slaq.sim.cluster import Cluster
from slaq.sim.timeline import normalised


@dataclass(frozen=True, slots=True)
class OracleOutlook:
    """The true future of the jobs. Plateaus are bridged: a job is worth going on with for what lies beyond them."""

    curve: FloatArray
    """Normalised loss from the present iteration on, made convex; jobs × iterations."""
    unit: FloatArray
    """The largest change of each job's normalised loss."""
    at: FloatArray
    """Iterations finished, and the part of the one under way."""
    length: FloatArray
    work_core_s: FloatArray
    serial_s: FloatArray
    cap: FloatArray
    epoch_s: float

    def reduction(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """See Outlook.reduction."""
        ahead = self.ahead(job, cores)
        return (self._loss_at(job, self.at[job]) - self._loss_at(job, self.at[job] + ahead)) / self.unit[job]

    def loss(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """See Outlook.loss."""
        return self._loss_at(job, self.at[job] + self.ahead(job, cores))

    def ahead(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """See Outlook.ahead."""
        held = np.minimum(cores, self.cap[job])
        return self.epoch_s * held / (self.serial_s[job] * held + self.work_core_s[job])

    def worked(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """See Outlook.worked."""
        return self.ahead(job, cores) * self.work_core_s[job]

    def work_ahead(self, share: float) -> tuple[FloatArray, FloatArray]:
        """See Outlook.work_ahead."""
        work_core_s = self.until(share) * self.work_core_s
        return (work_core_s > 0.0).astype(np.float64), work_core_s

    def reached(self) -> FloatArray:
        """See Outlook.reached."""
        everyone = np.arange(len(self.at))
        return np.where(self.curve.any(axis=1), 1.0 - self.curve[everyone, self.at.astype(np.int64)], 0.0)

    def until(self, share: float) -> FloatArray:
        """See Outlook.until."""
        before = np.count_nonzero(self.curve > 1.0 - share + 1e-12, axis=1).astype(np.float64)
        goal = np.minimum(before, self.length) if share < 1.0 else self.length
        return np.maximum(goal - self.at, 0.0)

    def _loss_at(self, job: IntArray, iteration: FloatArray) -> FloatArray:
        position = np.minimum(iteration, self.length[job])
        below = np.minimum(position.astype(np.int64), self.curve.shape[1] - 2)
        part = position - below
        loss: FloatArray = self.curve[job, below] * (1.0 - part) + self.curve[job, below + 1] * part
        return loss


class Oracle:
    """A predictor that looks into the cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.best = normalised(cluster.workload)
        self.unit = np.maximum(-np.diff(self.best, axis=1).min(axis=1), 1e-12)
        self._curve_from = cache(self._curve)

    def __call__(self, jobs: Sequence[Job], epoch_s: float, tuning: Tuning) -> OracleOutlook:  # noqa: ARG002
        workload, index = self.cluster.workload, self.cluster.index(jobs)
        curve = [self._curve_from(i, int(self.cluster.done[i])) for i in index.tolist()]
        return OracleOutlook(
            np.array(curve).reshape(len(index), self.best.shape[1]) * workload.ml[index, None],
            self.unit[index],
            self._position(index),
            workload.length[index].astype(np.float64),
            workload.work_core_s[index],
            workload.serial_s[index],
            workload.cap[index],
            epoch_s,
        )

    def _position(self, index: IntArray) -> FloatArray:
        cost, done = self.cluster.workload.cost, self.cluster.done[index]
        begun, ends = cost[index, done], cost[index, np.minimum(done + 1, cost.shape[1] - 1)]
        position: FloatArray = done + (self.cluster.progress[index] - begun) / np.maximum(ends - begun, 1e-9)
        return position

    def _curve(self, job: int, done: int) -> FloatArray:
        """The job's curve with everything from `done` on replaced by its lower convex hull."""
        curve: FloatArray = self.best[job].copy()
        hull = [done]
        for k in range(done + 1, int(self.cluster.workload.length[job]) + 1):
            while len(hull) > 1 and _above(curve, hull[-2], hull[-1], k):
                hull.pop()
            hull.append(k)
        curve[done : hull[-1] + 1] = np.interp(np.arange(done, hull[-1] + 1), hull, curve[hull])
        return curve


class LiteralOracle(Oracle):
    """Knows as much, but a plateau that is longer than the epoch is worth nothing to it (SLAQ, Algorithm 1)."""

    def _curve(self, job: int, done: int) -> FloatArray:  # noqa: ARG002
        curve: FloatArray = self.best[job]
        return curve


def _above(curve: FloatArray, a: int, b: int, c: int) -> bool:
    """Whether point b lies on or above the line from a to c."""
    return bool((curve[b] - curve[a]) * (c - a) >= (curve[c] - curve[a]) * (b - a))

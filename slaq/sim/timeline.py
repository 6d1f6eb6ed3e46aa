"""The timeline of a simulation: at every epoch the losses of the active jobs, who holds the cores, and how far
predictions were off."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from slaq.model import FloatArray, IntArray
from slaq.sim.watch import WatchedOutlook
from slaq.sim.workload import Workload

GROUPS = (0.25, 0.5, 1.0)
"""Figure 8's groups of active jobs by loss: the highest quarter, the next quarter, the lower half."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """One entry per epoch with active training jobs; the errors are over all jobs and epochs."""

    time_s: FloatArray
    active: IntArray
    mean_loss: FloatArray
    """The normalised loss of the active jobs, averaged, at the moment of each decision: the paper's Figure 7(a).

    A job that has just arrived counts with its initial loss of 1.0 (the spikes of the figure), one that has ended no
    longer counts.
    """
    group_cores: FloatArray
    """epochs × GROUPS: share of the training jobs' cores held by each group; NaN with fewer than four jobs."""
    prediction_error: float
    """Mean |predicted − true loss reduction| of an epoch, in shares of the job's whole reduction; NaN: none made."""


class TimelineBuilder:
    """Collects a Timeline while a simulation runs."""

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self.normalised = normalised(workload)
        self._rows: list[tuple[float, int, float, list[float]]] = []
        self._expected: tuple[IntArray, IntArray, FloatArray] | None = None
        self._error, self._predictions = 0.0, 0

    def note(
        self,
        now_s: float,
        active: IntArray,
        cores: FloatArray,
        done: IntArray,
        outlook: WatchedOutlook | None,
    ) -> None:
        """Note one epoch: its active jobs, the cores just given to them, and what the outlook predicts for them."""
        ml = self.workload.ml[active]
        if ml.any():
            loss = self.normalised[active[ml], done[active[ml]]]
            self._rows.append((now_s, len(loss), float(loss.mean()), _by_group(loss, cores[ml])))
        if outlook is not None and outlook.used:
            predicted = outlook.reduction(np.arange(len(active)), cores)
            unit = np.array([job.history.largest_delta for job in outlook.jobs]) / _span(self.workload)[active]
            known = ml & (unit > 0.0)
            self._expected = active[known], done[active[known]], (predicted * unit)[known]

    def note_end(self, done: IntArray) -> None:
        """Compare the prediction for the epoch with the outcome."""
        if self._expected is None:
            return
        job, before, predicted = self._expected
        made = self.normalised[job, before] - self.normalised[job, done[job]]
        self._error += float(np.abs(predicted - made).sum())
        self._predictions += len(job)
        self._expected = None

    def timeline(self) -> Timeline:
        """Everything noted, at the end of a run."""
        time_s, active, loss, groups = zip(*self._rows, strict=True) if self._rows else ((), (), (), ())
        error = self._error / self._predictions if self._predictions else float("nan")
        return Timeline(
            np.array(time_s),
            np.array(active, dtype=np.int64),
            np.array(loss),
            np.array(groups).reshape(len(time_s), len(GROUPS)),
            error,
        )


def normalised(workload: Workload) -> FloatArray:
    """The lowest loss so far, normalised as in the paper: 1 before training, 0 at the end; jobs × iterations.

    Taking the lowest so far keeps the noise of stochastic training out.
    """
    lowest = np.minimum.accumulate(workload.losses, axis=1)
    return (lowest - lowest[:, -1:]) / _span(workload)[:, None]


def _span(workload: Workload) -> FloatArray:
    span: FloatArray = workload.losses[:, 0] - workload.losses.min(axis=1)
    return np.where(span > 0.0, span, 1.0)


def _by_group(loss: FloatArray, cores: FloatArray) -> list[float]:
    total = cores.sum()
    if len(loss) < 4 or not total > 0.0:
        return [float("nan")] * len(GROUPS)
    ordered = cores[np.argsort(-loss, kind="stable")]
    ends = [0, *(round(edge * len(loss)) for edge in GROUPS)]
    return [float(ordered[a:b].sum() / total) for a, b in pairwise(ends)]

"""What each decision expects of each job, and how far off that was.

A job is judged in epochs in which it reported: the loss the forecast gave for as many further reports as
came, against the loss that came, in shares of the job's whole loss reduction so far.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from slaq.model import FloatArray, History, Job
from slaq.predict import look_ahead
from slaq.predict.outlook import HORIZONS, CurveOutlook
from slaq.scheduler.live import LiveJob

LEAST_REPORTS = 3
"""A job with fewer is not judged: the scheduler assumes something, it does not predict."""

MOST_JUDGED = 500
"""Jobs judged in one epoch; of more, each is judged in every second, third … epoch."""


class Foreseer:
    """Passes for the engine's predictor, and remembers what it said.

    A decision only notes its outlook. What that means for a job is worked out when somebody asks.
    """

    def __init__(self) -> None:
        self._asked: tuple[Sequence[Job], CurveOutlook] | None = None
        self._decided: tuple[Sequence[Job], CurveOutlook, Mapping[str, float]] | None = None
        self._places: dict[str, int] = {}
        self._watched: list[tuple[int, int]] = []
        """Jobs to be judged at the end of the epoch: their place, and the reports they had."""
        self._turn = 0

    def __call__(self, jobs: Sequence[Job], epoch_s: float) -> CurveOutlook:
        """The outlook, as the engine wants it."""
        outlook = look_ahead(jobs, epoch_s)
        self._asked = (jobs, outlook)
        return outlook

    def expect(self, cores: Mapping[str, float], live: Mapping[str, LiveJob]) -> None:
        """Note what the decision that was just made rests on."""
        asked, self._asked = self._asked, None
        self._decided, self._places, self._watched = None, {}, []
        if asked is None or not asked[0]:
            return
        jobs, outlook = asked
        self._decided = (jobs, outlook, cores)
        stride = -(-len(jobs) // MOST_JUDGED)
        self._turn = (self._turn + 1) % stride
        self._watched = [
            (place, live[jobs[place].id].received)
            for place in range(self._turn, len(jobs), stride)
            if jobs[place].id in live and _predictable(jobs[place].history)
        ]

    def judge(self, now: Mapping[str, Job], live: Mapping[str, LiveJob]) -> None:
        """Compare the previous decision's forecasts with what has been reported since."""
        if self._decided is None:
            return
        jobs, outlook, _ = self._decided
        rows = [
            (place, live[jobs[place].id].received - received)
            for place, received in self._watched
            if jobs[place].id in now and jobs[place].id in live and live[jobs[place].id].received > received
        ]
        gains = _gain_after(outlook, [place for place, _ in rows], [made for _, made in rows])
        for (place, _), reduction in zip(rows, gains.tolist(), strict=True):
            before, after = jobs[place].history, now[jobs[place].id].history
            if not after.diverged:
                whole = max(after.first_loss - after.latest_loss, after.largest_delta)
                foresight = live[jobs[place].id].foresight
                foresight.last_expected = before.latest_loss - before.largest_delta * reduction
                foresight.last_reported = after.latest_loss
                foresight.error_sum += abs(foresight.last_expected - after.latest_loss) / whole
                foresight.judged += 1

    def refresh(self, asked: Sequence[LiveJob]) -> None:
        """Bring the expectations of these jobs up to date with the latest decision."""
        if self._decided is None:
            return
        jobs, outlook, cores = self._decided
        self._places = self._places or {job.id: place for place, job in enumerate(jobs)}
        known = [job for job in asked if job.key in self._places and job.declared.ml]
        if not known:
            return
        at = np.array([self._places[job.key] for job in known])
        held = np.minimum([cores.get(job.key, 0.0) for job in known], outlook.max_cores[at])
        with np.errstate(all="ignore"):  # whatever jobs report, it must not break what is only for people to read
            iterations = outlook.runtime.iterations(at, held, outlook.epoch_s)
            columns = (outlook.reduction(at, held), iterations, outlook.loss(at, np.zeros(len(at))))
        rows = zip(known, at, *(column.tolist() for column in columns), strict=True)
        for job, place, reduction, ahead, left in rows:
            foresight, history = job.foresight, jobs[place].history
            foresight.iterations = ahead
            foresight.normalised = left if len(history) else 1.0
            loss = history.latest_loss - history.largest_delta * reduction
            foresight.loss = loss if _predictable(history) else None


def _predictable(history: History) -> bool:
    return len(history) >= LEAST_REPORTS and history.largest_delta > 0.0 and not history.diverged


def _gain_after(outlook: CurveOutlook, rows: Sequence[int], reported: Sequence[int]) -> FloatArray:
    """The forecast loss reduction after so many further reports, in units of the job's largest change."""
    reports = np.array(reported, dtype=np.float64)
    segment = np.searchsorted(HORIZONS, reports, side="right") - 1
    at = (np.array(rows, dtype=np.int64), segment)
    gained: FloatArray = outlook.gain[at] + outlook.slope[at] * (reports - HORIZONS[segment])
    return gained

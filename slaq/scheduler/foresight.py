"""What each decision expects of each job, and how far off that was.

A job is judged in epochs in which it reported: the loss the forecast gave for as many further reports as
came, against the loss that came, in shares of the job's whole loss reduction so far.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from slaq.model import FloatArray, History, Job, Tuning
from slaq.predict import Predictor, get, standings
from slaq.predict.outlook import CurveOutlook
from slaq.predict.remaining import MILESTONES
from slaq.predict.signs import HORIZONS
from slaq.protocol import Ahead
from slaq.scheduler.live import LiveJob

LEAST_REPORTS = 3
"""A job with fewer is not judged: the scheduler assumes something, it does not predict."""

MOST_JUDGED = 500
"""Jobs judged in one epoch; of more, each is judged in every second, third … epoch."""


@dataclass(slots=True)
class _Decided:
    """What the latest decision rested on."""

    jobs: Sequence[Job]
    outlook: CurveOutlook
    cores: Mapping[str, float]
    watched: list[tuple[int, int]]
    """Jobs to be judged at the end of the epoch: their place, and the reports they had."""
    places: dict[str, int]
    """By job id; filled when somebody asks."""


class Foreseer:
    """The engine's predictors, whose latest outlook is remembered."""

    def __init__(self) -> None:
        self._asked: tuple[Sequence[Job], CurveOutlook] | None = None
        self._decided: _Decided | None = None
        self._turn = 0

    def __call__(self, name: str) -> Predictor:
        """The predictor of that name, as the engine wants it."""
        predictor = get(name)

        def remembered(jobs: Sequence[Job], epoch_s: float, tuning: Tuning) -> CurveOutlook:
            outlook = predictor(jobs, epoch_s, tuning)
            self._asked = (jobs, outlook)
            return outlook

        return remembered

    def expect(self, cores: Mapping[str, float], live: Mapping[str, LiveJob]) -> None:
        """Note what the decision that was just made rests on, and how far every job has come."""
        asked, self._asked, self._decided = self._asked, None, None
        if asked is None or not asked[0]:
            return
        jobs, outlook = asked
        for job, standing in zip(jobs, standings(outlook), strict=True):
            if job.id in live:
                live[job.id].standing = standing if job.ml and job.history.packed_losses else None
        stride = -(-len(jobs) // MOST_JUDGED)
        self._turn = (self._turn + 1) % stride
        watched = [
            (place, live[jobs[place].id].received)
            for place in range(self._turn, len(jobs), stride)
            if jobs[place].id in live and _predictable(jobs[place].history)
        ]
        self._decided = _Decided(jobs, outlook, cores, watched, {})

    def judge(self, now: Mapping[str, Job], live: Mapping[str, LiveJob]) -> None:
        """Compare the previous decision's forecasts with what has been reported since."""
        decided = self._decided
        if decided is None:
            return
        rows = [
            (place, live[key].received - received)
            for place, received in decided.watched
            if (key := decided.jobs[place].id) in now and key in live and live[key].received > received
        ]
        gains = _gain_after(decided.outlook, [place for place, _ in rows], [made for _, made in rows])
        for (place, _), reduction in zip(rows, gains.tolist(), strict=True):
            before = decided.jobs[place].history
            after = now[decided.jobs[place].id].history
            if not after.diverged:
                whole = max(after.first_loss - after.latest_loss, after.largest_delta)
                foresight = live[decided.jobs[place].id].foresight
                foresight.last_expected = before.latest_loss - before.largest_delta * reduction
                foresight.last_reported = after.latest_loss
                foresight.error_sum += abs(foresight.last_expected - after.latest_loss) / whole
                foresight.judged += 1

    def refresh(self, asked: Sequence[LiveJob]) -> None:
        """Bring the expectations of these jobs up to date with the latest decision."""
        decided = self._decided
        if decided is None:
            return
        if not decided.places:
            decided.places.update((job.id, place) for place, job in enumerate(decided.jobs))
        known = [job for job in asked if job.key in decided.places and job.declared.ml]
        if not known:
            return
        at = np.array([decided.places[job.key] for job in known])
        held = np.array([decided.cores.get(job.key, 0.0) for job in known])
        with np.errstate(all="ignore"):  # losses may be anything; this is for people to read only
            reductions, iterations = decided.outlook.reduction(at, held), decided.outlook.ahead(at, held)
        for job, place, reduction, ahead in zip(known, at, reductions.tolist(), iterations.tolist(), strict=True):
            history = decided.jobs[place].history
            job.foresight.iterations = ahead
            loss = history.latest_loss - history.largest_delta * reduction
            job.foresight.loss = loss if _predictable(history) else None
        _look_ahead(decided.outlook, at.tolist(), known)


def _predictable(history: History) -> bool:
    return len(history) >= LEAST_REPORTS and history.largest_delta > 0.0 and not history.diverged


def _look_ahead(outlook: CurveOutlook, places: Sequence[int], jobs: Sequence[LiveJob]) -> None:
    """Note how far the milestones of these jobs are."""
    work = [(share, outlook.work_until(share), *outlook.work_between(share)) for share in MILESTONES]
    for job, place in zip(jobs, places, strict=True):
        job.foresight.ahead = [Ahead(share, *(float(each[place]) for each in found)) for share, *found in work]


def _gain_after(outlook: CurveOutlook, rows: Sequence[int], reported: Sequence[int]) -> FloatArray:
    """The forecast loss reduction after so many further reports, in units of the job's largest change."""
    reports = np.array(reported, dtype=np.float64)
    segment = np.searchsorted(HORIZONS, reports, side="right") - 1
    at = (np.array(rows, dtype=np.int64), segment)
    gained: FloatArray = outlook.gain[at] + outlook.slope[at] * (reports - HORIZONS[segment])
    return gained

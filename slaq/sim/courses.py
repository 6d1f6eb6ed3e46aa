"""What each job of a recorded time did: its work and its pauses between one report and the next, in order.

Work is what its tasks held; of a job that does not tell, what it was granted. A pause is what its reports price as
serial, or the time in which it said that it had no task. So a course says how a job goes on under other cores.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from slaq.engine import Allocated, Event, JobEnded, JobJoined, JobMoved, JobReported, JobSeen, State
from slaq.engine.log import Epoch
from slaq.model import Job, Report

Ending = Literal["finish", "stop", "fail", "cancel", "lose"]
BY_ITSELF: tuple[Ending, ...] = ("finish", "stop", "fail")
"""Ends that come when the work is done; the others come at their time, whatever was done by then."""
_ENDS: dict[str, Ending] = {
    "finished": "finish",
    "stopped": "stop",
    "failed": "fail",
    "cancelled": "cancel",
    "lost": "lose",
}


@dataclass(frozen=True, slots=True)
class Part:
    """Some work, then a pause, then reports."""

    work_core_s: float
    pause_s: float = 0.0
    reports: tuple[Report, ...] = ()


@dataclass(slots=True)
class Course:
    """One job in a recorded time."""

    job: Job
    joined_s: float | None
    """None: it was there before."""
    parts: list[Part] = field(default_factory=list)
    told: list[tuple[float, float]] = field(default_factory=list)
    """When each of its losses was told, and the loss."""
    ending: Ending | None = None
    ended_s: float = 0.0

    @property
    def counted(self) -> bool:
        """Whether it is known from its first loss to its last one, as a training job that ended by its own."""
        return self.joined_s is not None and self.ending in ("finish", "stop") and len(self.told) > 1 and self.job.ml


@dataclass(slots=True)
class _Followed:
    """A job while the recording is read."""

    course: Course
    held_core_s: float | None
    """What its tasks had held at its latest part; None: it does not tell."""
    latest_core_s: float | None = None
    granted_core_s: float = 0.0
    cores: float = 0.0
    idle_s: float = 0.0
    """Pauses since its latest report."""
    idle_since_s: float | None = None

    def end_part(self, pause_s: float = 0.0, reports: tuple[Report, ...] = ()) -> None:
        """What it did since its latest part becomes one, or as many as there are reports, each with its share."""
        work_core_s = self.granted_core_s
        if self.latest_core_s is not None:
            work_core_s = max(self.latest_core_s - (self.held_core_s or 0.0), 0.0)
            self.held_core_s = self.latest_core_s
        self.granted_core_s = 0.0
        if reports:
            priced = [report.work_core_s or 0.0 for report in reports]
            whole = sum(priced)
            shares = [each / whole for each in priced] if whole > 0.0 else [1.0 / len(reports)] * len(reports)
            for report, share in zip(reports, shares, strict=True):
                self.course.parts.append(Part(share * work_core_s, share * pause_s, (report,)))
        elif work_core_s > 0.0 or pause_s > 0.0:
            self.course.parts.append(Part(work_core_s, pause_s))


def courses(state: State, epochs: Iterable[Epoch]) -> list[Course]:
    """The jobs of a recorded time that begins with this state, in order of arrival."""
    alive: dict[str, _Followed] = {}
    found: list[Course] = []
    for job in state.jobs.values():
        _begin(alive, found, job, None)
        alive[job.id].cores = job.cores
        alive[job.id].idle_since_s = state.now_s if "idle" in job.life.waits else None
    decided_s = state.now_s
    for epoch in epochs:
        ended_s = epoch.events[-1].now_s
        for one in alive.values():
            one.granted_core_s += one.cores * max(ended_s - decided_s, 0.0)
        decided_s = ended_s
        for event in epoch.events:
            _take(alive, found, event)
        for effect in epoch.effects:
            if isinstance(effect, JobEnded):
                _end(alive, effect.job.id, _ENDS[effect.job.life.state], ended_s)
            elif isinstance(effect, Allocated):
                for key, one in alive.items():
                    one.cores = effect.decision.cores.get(key, 0.0)
    for one in alive.values():
        one.end_part()
    return found


def _begin(alive: dict[str, _Followed], found: list[Course], job: Job, joined_s: float | None) -> None:
    found.append(Course(job, joined_s))
    alive[job.id] = _Followed(found[-1], job.attained_core_s if job.told or joined_s is not None else None)


def _take(alive: dict[str, _Followed], found: list[Course], event: Event) -> None:
    if isinstance(event, JobJoined) and event.job.id not in alive:
        _begin(alive, found, event.job, event.now_s)
    elif isinstance(event, JobReported | JobSeen) and event.job_id in alive:
        one = alive[event.job_id]
        if event.held_core_s is not None:
            one.latest_core_s = event.held_core_s
            if one.held_core_s is None:  # it tells from now on
                one.held_core_s = event.held_core_s
        if isinstance(event, JobReported) and event.reports:
            _report(one, event.reports, event.now_s)
    elif isinstance(event, JobMoved) and event.job_id in alive:
        one = alive[event.job_id]
        if event.move == "rest" and one.idle_since_s is None:
            one.end_part()
            one.idle_since_s = event.now_s
        elif event.move == "work" and one.idle_since_s is not None:
            pause_s, one.idle_since_s = max(event.now_s - one.idle_since_s, 0.0), None
            one.idle_s += pause_s
            one.end_part(pause_s)
        elif event.move in _ENDS.values():
            _end(alive, event.job_id, cast(Ending, event.move), event.now_s)


def _report(one: _Followed, reports: Sequence[Report], now_s: float) -> None:
    serial_s = sum(report.serial_s or 0.0 for report in reports)
    one.end_part(max(serial_s - one.idle_s, 0.0), tuple(reports))
    one.idle_s = 0.0
    one.course.told += [(now_s, report.loss) for report in reports if report.loss is not None]


def _end(alive: dict[str, _Followed], key: str, ending: Ending, now_s: float) -> None:
    if (one := alive.pop(key, None)) is not None:
        one.end_part()
        one.course.ending, one.course.ended_s = ending, now_s

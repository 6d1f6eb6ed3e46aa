"""The engine in the loop of a replayed stream, told what a real driver tells it, as often and as late."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from slaq.engine import (
    Allocated,
    Effect,
    EpochEnded,
    Event,
    JobJoined,
    JobMoved,
    JobReported,
    JobSeen,
    PolicyFailed,
    State,
    run,
)
from slaq.errors import SlaqError
from slaq.model import DEFAULTS, Job, Report, Tuning
from slaq.predict import LEARNED
from slaq.sim.script import Script

LEASE_S = 60.0
SOONEST_S = 0.1
"""An early decision comes this long after the latest at least, as in `slaq.scheduler.epochs`."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How often and how late: the defaults are those of a scheduler inside a driver."""

    epoch_s: float = 0.5
    """Between two decisions."""
    turn_s: float = 0.1
    """Between two polls of the driver loop."""
    age_s: float = 0.05
    """What a decision knows is at least this old."""
    lag_s: float = 0.02
    """From a decision until the pools follow it."""

    @property
    def first_poll_s(self) -> float:
        """Polls come so that the latest before a decision is `age_s` old."""
        return self.turn_s - math.fmod(self.age_s, self.turn_s)


IN_DRIVER = Pace()
"""A scheduler inside a driver."""
FRESH = Pace(epoch_s=0.1, turn_s=0.1, age_s=0.0, lag_s=0.0)
"""As good as always and at once."""


class Told(Protocol):
    """What a driver knows of its job."""

    script: Script
    known: int
    held_core_s: float
    paused_s: float
    partitions: int
    ended: bool

    @property
    def active(self) -> bool:
        """Whether it has a task."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision as the pools get it, by job."""

    cores: dict[str, float]
    standby: dict[str, int]
    rank: dict[str, int]


@dataclass(slots=True)
class _Followed:
    """What the scheduler was last told of a job."""

    known: int = 0
    held_core_s: float = 0.0
    paused_s: float = 0.0
    partitions: int = 0
    over: bool = False


@dataclass(slots=True)
class Decisions:
    """Polls of the driver loop become events of the engine; an epoch's end becomes a decision."""

    policy: str
    cores: int
    pace: Pace = IN_DRIVER
    tuning: Tuning = DEFAULTS
    predictor: str = LEARNED
    named: bool = True
    """Whether the scheduler is told the estimators."""
    made: int = 0
    """Decisions so far."""
    _state: State = field(init=False)
    _followed: dict[str, _Followed] = field(default_factory=dict)
    _events: list[Event] = field(default_factory=list)
    _news: bool = False
    _decided_s: float = -math.inf

    def __post_init__(self) -> None:
        lease_s = max(LEASE_S, 10.0 * self.pace.epoch_s)
        self._state = State(self.cores, self.policy, self.predictor, self.pace.epoch_s, lease_s, tuning=self.tuning)

    def poll(self, now_s: float, jobs: Sequence[Told]) -> None:
        """Take in what has happened to the jobs since the last poll."""
        for job in jobs:
            if job.script.name in self._followed:
                self._follow(now_s, job, self._followed[job.script.name])
            elif job.active or (job.known and not job.ended):
                self._begin(now_s, job)

    def hastened(self, now_s: float) -> bool:
        """Whether the news of the latest poll (a begin, a first loss, an end) brings the next decision forward."""
        return self._news and now_s - self._decided_s >= SOONEST_S

    def decide(self, now_s: float) -> Decided:
        """One epoch."""
        self._state, effects = run(self._state, [*self._events, EpochEnded(now_s)])
        self._events, self._news, self._decided_s = [], False, now_s
        self.made += 1
        return _decided(effects)

    def _begin(self, now_s: float, job: Told) -> None:
        followed = self._followed[job.script.name] = _Followed(partitions=job.partitions)
        self._declare(now_s, job)
        self._news = True
        self._follow(now_s, job, followed)

    def _declare(self, now_s: float, job: Told) -> None:
        script = job.script
        self._events.append(
            JobJoined(
                now_s,
                Job(
                    script.name,
                    max_cores=float(max(job.partitions, 1)),
                    max_iterations=script.max_iterations,
                    estimator=script.estimator if self.named else "",
                ),
            )
        )

    def _follow(self, now_s: float, job: Told, followed: _Followed) -> None:
        if followed.over:
            return
        name = job.script.name
        if job.partitions != followed.partitions:
            followed.partitions = job.partitions
            self._declare(now_s, job)
        if job.known > followed.known:
            self._news |= followed.known == 0
            self._events.append(JobReported(now_s, name, _priced(job, followed), job.held_core_s))
            followed.known = job.known
            followed.held_core_s, followed.paused_s = job.held_core_s, job.paused_s
        else:
            self._events.append(JobSeen(now_s, name, job.held_core_s))
        if job.ended:
            followed.over = self._news = True
            self._events.append(JobMoved(now_s, name, "finish"))


def _priced(job: Told, followed: _Followed) -> tuple[Report, ...]:
    """The losses since the last report with what they cost, in equal parts; that of the first loss is not told."""
    losses = job.script.losses[followed.known : job.known]
    work_core_s = (job.held_core_s - followed.held_core_s) / len(losses)
    serial_s = (job.paused_s - followed.paused_s) / len(losses)
    return tuple(
        Report(shown.loss) if not followed.known and not place else Report(shown.loss, None, work_core_s, serial_s)
        for place, shown in enumerate(losses)
    )


def _decided(effects: Sequence[Effect]) -> Decided:
    for effect in effects:
        if isinstance(effect, PolicyFailed):
            raise SlaqError(f"policy {effect.policy!r} failed in epoch {effect.epoch}: {effect.error}")
    (allocated,) = (effect for effect in effects if isinstance(effect, Allocated))
    reasons = allocated.decision.reasons
    gains = {name: reason.next_gain for name, reason in reasons.items()}
    waiting = sorted((name for name in gains if gains[name] > 0.0 or not reasons[name].cores), key=lambda n: -gains[n])
    order = sorted(reasons, key=lambda name: (-round(reasons[name].cores, 6), -gains[name]))
    return Decided(
        dict(allocated.decision.cores),
        {name: place for place, name in enumerate(waiting)},
        {name: place for place, name in enumerate(order)},
    )

"""What the scheduler holds of the applications and jobs that are alive, next to the engine's own state."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from slaq.model import Job, PastFit, Reason
from slaq.protocol import Ahead, Declaration, Report, Standing
from slaq.scheduler.store.curve import Curve, Points

LOSS_POINTS, CORES_POINTS = 256, 128
DECISIONS = 32
"""Decisions remembered of each living job, with their reasons: a few minutes of them, for people to read."""

_STAND_BY = ("queued", "running", "idle")
"""States in which a job may use cores that others leave idle."""


@dataclass(slots=True)
class Foresight:
    """What was expected of a job, and how that turned out."""

    loss: float | None = None
    iterations: float | None = None
    error_sum: float = 0.0
    judged: int = 0
    last_expected: float | None = None
    last_reported: float | None = None
    ahead: list[Ahead] = field(default_factory=list)


@dataclass(slots=True)
class Spending:
    """What the iterations of a job have cost together, as far as it was reported."""

    iterations: int = 0
    work_core_s: float = 0.0
    serial_s: float = 0.0

    def add(self, report: Report) -> None:
        """One more report."""
        if report.work_core_s is not None:
            self.iterations += 1
            self.work_core_s += report.work_core_s
            self.serial_s += report.serial_s or 0.0


@dataclass(slots=True)
class LiveJob:
    """A job that is alive. Its state is `life.state` of the engine's job of the same key."""

    key: str
    id: str
    app: "App"
    declared: Declaration
    began_at: float
    seen_at: float
    weight: float | None = None
    """Set by its user while it runs; None: as declared."""
    resting: bool = False
    """What its driver said last: it has no task to run for now."""
    cancel: bool = False
    stop: bool = False
    received: int = 0
    """The number of the next report that is new."""
    granted: float | None = None
    """None: not decided yet."""
    owed: float = 0.0
    """Cores that were decided and not granted yet, or granted in advance (see `slaq.scheduler.turns`)."""
    reason: Reason | None = None
    decided: tuple[str, int, float] = ("", 0, 0.0)
    """Policy, epoch and floor of the reason."""
    standing: Standing | None = None
    """How far it has come, as the latest decision about it saw it; None without a loss."""
    losses: Curve = field(default_factory=lambda: Curve(LOSS_POINTS, Points(3)))
    """(instant, iteration, loss)"""
    cores: Curve = field(default_factory=lambda: Curve(CORES_POINTS, Points(2)))
    """(instant, cores from then on)"""
    changes: deque[tuple[float, float, Reason | None]] = field(default_factory=lambda: deque(maxlen=DECISIONS))
    """(instant, cores from then on, why) of the latest decisions that changed its cores."""
    foresight: Foresight = field(default_factory=Foresight)
    spending: Spending = field(default_factory=Spending)
    age_s: float = 0.0
    """How old it was when it joined this scheduler: what it had lived under the one before."""
    past: PastFit | None = None
    """What is remembered of it for fits like it; None while it lives."""
    stored_s: float = 0.0
    """When it was last written to the archive."""
    owner: str = ""
    """Its user, if that is not its application's."""
    user_cores: float | None = None
    """Cores of all jobs of its user by the latest decision, where users share before their jobs do."""

    @property
    def user(self) -> str:
        """Whose job it is."""
        return self.owner or self.app.user


@dataclass(slots=True)
class App:
    """An application that beats."""

    id: str
    user: str
    name: str = ""
    seq: int = -1
    cores: float | None = None
    granted: float = 0.0
    """Cores of all its jobs by the latest decision, or lent to it until the next."""
    jobs: dict[str, LiveJob] = field(default_factory=dict)
    over: dict[str, int] = field(default_factory=dict)
    """Ended jobs that its agent still mentions, and the ticket of their last write to the archive."""
    seen_s: float = 0.0
    dropped: int = 0
    window_s: float = 0.0
    """Beginning of the second in which `window_beats` are counted."""
    window_beats: int = 0
    heard_earlier: bool = False
    """Whether the latest answer that it heard was an earlier scheduler's."""
    phase: float = 0.0
    """Its place, from 0 to 1, in the time over which beats are spread."""
    notice: str = ""
    serves: bool = False
    """Whether it may name the user of each of its jobs."""

    def standby(self, known: Mapping[str, Job]) -> list[str]:
        """Its jobs by what one more core would bring them, the most first; `known` are the engine's jobs.

        Jobs that gain nothing are left out, unless they have no core either. So are jobs that must not run.
        """
        free = [
            job
            for job in self.jobs.values()
            if job.granted is not None and job.key in known and known[job.key].life.state in _STAND_BY
        ]
        gains = {job.id: job.reason.next_gain if job.reason and not job.resting else 0.0 for job in free}
        waiting = [job.id for job in free if gains[job.id] > 0.0 or not job.granted]
        return sorted(waiting, key=lambda job_id: -gains[job_id])

"""What a run leaves behind for the checks: plain records, all times on one monotonic clock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Steps = Sequence[tuple[float, float | None]]
"""(instant, cores from then on); None: unthrottled."""


@dataclass(frozen=True, slots=True)
class Injected:
    """A fault as it happened."""

    kind: str
    began_s: float
    ended_s: float
    loosens: bool = True
    """Whether drivers may hold more than was decided until a lease after its end."""


@dataclass(frozen=True, slots=True)
class Life:
    """A training job as its own driver knows it."""

    app: str
    job: str
    full: float
    """The most cores that it can use."""
    expected_model: float
    began_s: float
    losses: tuple[float, ...] = ()
    """Every loss that it reported, in order."""
    cores: Steps = ()
    ended_s: float | None = None
    model: float | None = None

    @property
    def key(self) -> str:
        """Its id in the scheduler's history."""
        return f"{self.app}-{self.job}"


@dataclass(frozen=True, slots=True)
class Contact:
    """What an application heard of the scheduler."""

    app: str
    renewed_s: tuple[float, ...] = ()
    """When an answer put grants into force."""
    opened_s: tuple[float, ...] = ()
    """When it let its jobs run unthrottled."""
    died_s: float | None = None
    """When its process was killed."""
    silent: tuple[tuple[float, float], ...] = ()
    """While its process was stopped."""
    delivered_s: float = 0.0
    """When its last message reached the scheduler, however late."""
    dropped: int = 0
    """Reports that its agent gave up."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A job in the scheduler's history when all was over."""

    state: str
    reports: int
    losses: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """What the log says of one epoch."""

    at_s: float
    cores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Log:
    """A file of the decision log, replayed."""

    name: str
    decisions: tuple[Decision, ...] = ()
    differing: tuple[int, ...] = ()
    """Epochs in which the replay decided something else."""
    error: str = ""
    """Why it could not be read to its end."""
    damaged: bool = False
    """Whether a fault wrote into it."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A process at one moment."""

    at_s: float
    threads: int
    files: int
    rss_mb: float


@dataclass(frozen=True, slots=True)
class Watched:
    """A process over its life."""

    name: str
    samples: tuple[Sample, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """All of it."""

    began_s: float
    ended_s: float
    capacity: float
    epoch_s: float
    lease_s: float
    faults: tuple[Injected, ...] = ()
    lives: tuple[Life, ...] = ()
    contacts: tuple[Contact, ...] = ()
    history: Mapping[str, Kept] = field(default_factory=dict)
    history_since_s: float = 0.0
    """Jobs that ended before may be missing: a fault took the history, and the scheduler that wrote them is gone."""
    logs: tuple[Log, ...] = ()
    watched: tuple[Watched, ...] = ()
    files: Mapping[str, int] = field(default_factory=dict)
    """Sizes of the files in the state folder at the end, by name."""
    starts: int = 1
    """Schedulers that were started."""
    surprises: tuple[str, ...] = ()
    """What must not have been seen at all: a process that ended by itself, a stack trace, a senseless status."""

    def mended_s(self, fault: Injected) -> float:
        """Until when a fault may be felt by grants."""
        return mended_s(fault, self.epoch_s, self.lease_s)


def mended_s(fault: Injected, epoch_s: float, lease_s: float) -> float:
    """Until when a fault may be felt by grants: refused agents come back after at most as long as it lasted."""
    return fault.ended_s + (fault.ended_s - fault.began_s) + lease_s + SETTLE_EPOCHS * epoch_s + SLACK_S


SETTLE_EPOCHS = 4
"""After the lease: a restarted scheduler waits two epochs, and two more bring grants to everyone."""
SLACK_S = 2.0
"""What a busy machine may add to a time."""

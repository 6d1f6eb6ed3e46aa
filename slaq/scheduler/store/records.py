"""The records of a kept job. They belong to the database: a change here needs a migration (see `migrations`)."""

import math

from msgspec import Struct

from slaq.records import ENDINGS
from slaq.scheduler.store.curve import Points


class Summary(Struct, frozen=True):
    """What lists show of a job; each field is a column."""

    id: str
    app: str
    app_name: str
    user: str
    name: str
    estimator: str
    group: str
    state: str
    ml: bool
    weight: float
    cores: float
    max_cores: float | None
    iteration: int | None
    first_loss: float | None
    loss: float | None
    normalised_loss: float | None
    diverged: bool
    target_loss: float | None
    reports: int
    core_s: float
    began_at: float
    ended_at: float | None
    seen_at: float
    reason: str


class KeptDeclaration(Struct, frozen=True, omit_defaults=True):
    """What the job said of itself."""

    name: str = ""
    estimator: str = ""
    ml: bool = True
    weight: float = 1.0
    max_cores: float | None = None
    reserved_cores: float = 0.0
    target_loss: float | None = None
    max_iterations: int | None = None
    group: str = ""
    began_at: float = 0.0


class KeptAhead(Struct, frozen=True):
    """The work that the job had ahead of it until a milestone."""

    share: float
    core_s: float
    least_core_s: float
    most_core_s: float


class KeptWish(Struct, frozen=True, omit_defaults=True):
    """By when the job's user wanted it done, what its end was worth, and its class."""

    deadline_s: float | None = None
    utility: str | tuple[float, float, float] | None = None
    kind: str | None = None


class KeptExplanation(Struct, frozen=True):
    """Why the job had its cores."""

    sentence: str = ""
    rule: str = ""
    policy: str = ""
    epoch: int = 0
    cores: float = 0.0
    next_gain: float = 0.0
    cutoff: float = 0.0
    floor: float = 0.0
    cap: float = 0.0
    weight: float = 1.0
    reserved_cores: float = 0.0
    waited: int = 0
    ahead: list[KeptAhead] = []
    user_cores: float | None = None
    wish: KeptWish = KeptWish()
    preemptions: int = 0


class KeptStanding(Struct, frozen=True):
    """How far the job had come."""

    reached: float
    to_90: float
    to_95: float
    to_end: float


class KeptPrediction(Struct, frozen=True):
    """What was expected of the job, and how right that was."""

    loss: float | None = None
    iterations: float | None = None
    mean_error: float | None = None
    judged: int = 0
    last_expected: float | None = None
    last_reported: float | None = None
    standing: KeptStanding | None = None


class KeptHistory(Struct, frozen=True):
    """What the engine knew of the job's losses: 64-bit floats, 64-bit integers and (work_core_s, serial_s) pairs."""

    packed_losses: bytes
    packed_iterations: bytes
    packed_costs: bytes
    even: bool = True
    latest_iteration: int = -1
    latest_loss: float = math.nan
    first_loss: float = math.nan
    largest_delta: float = 0.0
    movement: float = 0.0
    diverged: bool = False
    ignored: int = 0


class KeptTraits(Struct, frozen=True, omit_defaults=True):
    """How a fit was set up, and the size of its data."""

    params: dict[str, bool | float | str] = {}
    partitions: float | None = None
    bytes: float | None = None


class KeptFit(Struct, frozen=True, omit_defaults=True):
    """What a fit that is over took, for those like it."""

    estimator: str
    traits: KeptTraits = KeptTraits()
    ready_core_s: float | None = None
    work_core_s: float | None = None
    serial_s: float = 0.0
    iterations: float = 0.0
    max_iterations: int | None = None
    reached: tuple[float, ...] = ()


class Body(Struct, frozen=True):
    """The rest of a job: its curves, and what it needs to go on after a restart."""

    declared: KeptDeclaration
    losses: Points
    """(instant, iteration, loss)"""
    cores: Points
    """(instant, cores from then on)"""
    received: int
    """The number of the next report that is new."""
    own_weight: float | None = None
    """Set by its user while it ran; None: as declared."""
    held: bool = False
    cancel: bool = False
    explanation: KeptExplanation | None = None
    prediction: KeptPrediction | None = None
    history: KeptHistory | None = None
    """None: the job is over."""
    ready_core_s: float | None = None
    """Core-seconds it took to its first report."""
    past: KeptFit | None = None
    """None: the job lives, or nothing was learned from it. Rows without it were written before 0.2.0."""
    stop: bool = False


class JobRow(Struct, frozen=True):
    """All that is kept of a job: enough to show it, and to go on with it after a restart."""

    summary: Summary
    body: Body

    @property
    def alive(self) -> bool:
        """Whether it had not ended."""
        return self.summary.ended_at is None


def is_over(state: str) -> bool:
    """Whether a job in this state cannot go on. A lost one can: its driver may come back."""
    return state in ENDINGS and state != "lost"

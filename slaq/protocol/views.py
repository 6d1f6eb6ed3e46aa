"""What people and tools read of the scheduler, and what they may change."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from slaq.records import NO_WISH, WEIGHTS, JobState, Standing, Wish


class Failure(Struct, frozen=True):
    """The body of every answer with a status of 400 or more."""

    error: str
    """One sentence that names the value and the remedy."""


class Capacity(Struct, frozen=True):
    """The cores that are shared out, and where their number comes from."""

    cores: int
    source: str
    """`fixed`, `drivers` (what their executors offer) or `master` (a standalone master's page)."""
    problem: str = ""
    """Why the source could not be read lately, if so; the last known number stays in force."""


class Status(Struct, frozen=True):
    """The scheduler in one look: GET /v1/status."""

    version: str
    protocol: int
    incarnation: int
    started_at: float
    now_at: float
    policy: str
    epoch_s: float
    lease_s: float
    epoch: int
    """Decisions so far."""
    epochs_late: int
    """Decisions that came more than a tenth of an epoch late, or not at all."""
    decide_s: float
    """How long the latest decision took."""
    capacity: Capacity
    granted_cores: float
    applications: int
    jobs: dict[str, int]
    """Number of jobs by state; finished ones as far as they are kept."""
    mean_loss: float | None
    """Mean over the training jobs of the normalised loss: 1 at a job's first report, 0 at its predicted limit."""
    reports: int
    beats: int
    dropped_reports: int
    problems: list[str]
    """What an administrator should look at: disk full, a policy that failed, a database moved aside …"""


class Prediction(Struct, frozen=True):
    """How well the scheduler foresees a job, in shares of the job's whole loss reduction so far."""

    loss: float | None
    """The loss expected at the end of the running epoch with the granted cores."""
    iterations: float | None
    """Iterations expected in the running epoch."""
    mean_error: float | None
    """Mean of |expected − reported| over the epochs that could be judged."""
    judged: int
    """Number of those epochs."""
    last_expected: float | None
    last_reported: float | None
    standing: Standing | None
    """How far it has come, and how far it is from 90 %, 95 % and its end."""


class Ahead(Struct, frozen=True, array_like=True):
    """The work that a job has ahead of it until a milestone, in core-seconds."""

    share: float
    """Of its whole expected loss reduction; 1 is its end."""
    core_s: float
    """As likely less as more; 0: reached."""
    least_core_s: float
    """Less than this in one case of ten."""
    most_core_s: float
    """More than this in one case of ten."""


class Explanation(Struct, frozen=True):
    """Why a job has its cores."""

    sentence: str
    rule: str
    policy: str
    epoch: int
    cores: float
    next_gain: float
    """What one more core would have bought, by the policy's measure."""
    cutoff: float
    """What the last core handed out bought."""
    floor: float
    cap: float
    """The most the job can use of the capacity."""
    weight: float
    """Its own weight times its user's; its own alone if there are `user_cores`."""
    reserved_cores: float
    waited: int
    """Epochs in a row with less than an even share of too few cores for all."""
    ahead: list[Ahead] = []
    """How far its milestones are, as the decision saw it; of a job that trains."""
    user_cores: float | None = None
    """Cores of all jobs of its user; None: the policy looks at all jobs alike, whoever they belong to."""
    wish: Wish = NO_WISH
    preemptions: int = 0
    """How often it has made room for a trial."""


class JobView(Struct, frozen=True):
    """A job in one line."""

    id: str
    app: str
    app_name: str
    user: str
    name: str
    estimator: str
    group: str
    state: JobState
    ml: bool
    weight: float
    cores: float
    max_cores: float | None
    iteration: int | None
    first_loss: float | None
    loss: float | None
    normalised_loss: float | None
    """1 at the first report, 0 at the expected end: what is left of `Standing.reached`."""
    diverged: bool
    target_loss: float | None
    reports: int
    core_s: float
    """Core-seconds its tasks have held so far; of a job that does not tell, core-seconds granted."""
    began_at: float
    ended_at: float | None
    seen_at: float
    reason: str
    """The sentence of the latest decision."""


class LossPoint(Struct, frozen=True, array_like=True):
    """One point of a loss curve; long curves are thinned out evenly."""

    at: float
    iteration: int
    loss: float | None


class CoresPoint(Struct, frozen=True, array_like=True):
    """From `at` on the job held `cores`."""

    at: float
    cores: float


class DecisionPoint(Struct, frozen=True, array_like=True):
    """A decision that changed a job's cores, and its reason."""

    at: float
    cores: float
    sentence: str


class JobDetail(Struct, frozen=True):
    """All there is to know of a job: GET /v1/jobs/{id}."""

    job: JobView
    losses: list[LossPoint]
    cores: list[CoresPoint]
    explanation: Explanation | None
    prediction: Prediction | None
    params: dict[str, Any] = {}
    """How its estimator is set up, as far as it was told."""
    decisions: list[DecisionPoint] = []
    """The latest decisions that changed its cores, oldest first; of a living job."""


class JobList(Struct, frozen=True):
    """A page of jobs: GET /v1/jobs."""

    jobs: list[JobView]
    total: int
    """Jobs that match, on all pages."""


class Change(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a user may change of a job: PATCH /v1/jobs/{id}. What is None stays."""

    weight: Annotated[float, Meta(ge=WEIGHTS[0], le=WEIGHTS[1])] | None = None
    held: bool | None = None
    cancel: Literal[True] | None = None
    """Ask its driver to end it."""
    stop: Literal[True] | None = None
    """Have it end after the iteration under way, with the model it has."""


class Dump(Struct, frozen=True):
    """Everything the scheduler holds in memory: GET /v1/dump."""

    status: Status
    settings: dict[str, Any]
    """The settings in force, without secrets."""
    applications: list[dict[str, Any]]
    jobs: list[JobDetail]

"""The beat of an agent, and the scheduler's answer to it.

Reports of a job are numbered 0, 1, 2 … in the order they were made. A beat says with which number its
reports begin, the scheduler takes those it does not have yet: whatever is sent twice counts once.
"""

from typing import Annotated

from msgspec import Meta, Struct

from slaq.records import LARGEST_COUNT, NO_TRAITS, NO_WISH, WEIGHTS, Outcome, Report, Standing, Traits, Wish

MAX_JOBS = 256
"""Jobs in one beat; an agent with more spreads them over several."""

MAX_REPORTS = 256
"""Reports of a job in one beat, and the number an agent keeps to send again after a scheduler's restart."""

AppId = Annotated[str, Meta(pattern=r"^[a-z0-9]{6,32}\Z")]
JobId = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.-]{1,64}\Z")]
Name = Annotated[str, Meta(max_length=200)]
Cores = Annotated[float, Meta(ge=0, le=1e6)]
Count = Annotated[int, Meta(ge=0, le=LARGEST_COUNT)]


class Declaration(Struct, frozen=True, omit_defaults=True):
    """What a job says of itself when it begins."""

    name: Name = ""
    """For people: what the user called it, or the estimator's uid."""
    estimator: Name = ""
    """What trains: `LogisticRegression`, `KMeans`, `custom` …"""
    ml: bool = True
    """False: work without a loss."""
    weight: Annotated[float, Meta(ge=WEIGHTS[0], le=WEIGHTS[1])] = 1.0
    max_cores: Annotated[float, Meta(ge=1)] | None = None
    """More cores are of no use; None: no limit."""
    reserved_cores: Cores = 0.0
    """Cores wished for in any case; the scheduler's settings say how many it may have."""
    target_loss: float | None = None
    max_iterations: Count | None = None
    """The job ends after so many at the latest; None: not known."""
    group: Name = ""
    """Jobs of one user that belong together, as the candidates of a search; empty: none."""
    began_at: float = 0.0
    unstoppable: Name = ""
    """Why it cannot be ended early with the model it has; empty: it can."""
    traits: Traits = NO_TRAITS
    """What past fits are compared with it by; told anew while more of it becomes known."""
    user: Name = ""
    """For whom an application works that serves several users; empty: for its own."""
    wish: Wish = NO_WISH
    """By when it should end, what that is worth, and its class."""


class Ended(Struct, frozen=True, omit_defaults=True):
    """A job is over."""

    outcome: Outcome = "finished"
    at: float = 0.0


class JobBeat(Struct, frozen=True, omit_defaults=True):
    """A job that is alive, what it has to report, and how it ended if it did."""

    id: JobId
    declared: Declaration | None = None
    """Sent with the first beat, when something in it changed, and when the scheduler asks (`Answer.resend`)."""
    first: Count = 0
    """The number of the first of these reports."""
    reports: Annotated[list[Report], Meta(max_length=MAX_REPORTS)] = []
    ended: Ended | None = None
    """Repeated until the scheduler has saved it (`Answer.saved`)."""
    idle: bool = False
    """It has had no task for a while: its cores are better used elsewhere until it says otherwise."""
    held_core_s: Annotated[float, Meta(ge=0, le=1e15)] | None = None
    """Core-seconds that its tasks have held so far; None: not known."""
    due_core_s: Annotated[float, Meta(ge=0, le=1e15)] | None = None
    """Core-seconds that the tasks left in its stages under way will hold; None: not known."""


class Beat(Struct, frozen=True, omit_defaults=True):
    """What an application tells the scheduler, about once an epoch."""

    protocol: int
    app: AppId
    seq: Count
    """Rises with every beat; a beat whose number was already seen changes nothing."""
    incarnation: Count = 0
    """The scheduler last heard of. One with a lower number can tell its people that there is another; one with a higher
    number knows that a declaration answers its predecessor."""
    name: Name = ""
    user: Name = ""
    """Believed only where tokens do not name their user."""
    cores: Cores | None = None
    """Cores of this application's executors, for a scheduler that discovers its capacity."""
    jobs: Annotated[list[JobBeat], Meta(max_length=MAX_JOBS)] = []
    dropped: Count = 0
    """Reports given up because the scheduler was away for too long."""
    leaving: bool = False
    """The application closes; jobs that did not end are lost."""
    oldest: Count = 0
    """The oldest version that understands this beat; 0: only its own."""


class Answer(Struct, frozen=True, omit_defaults=True):
    """What the scheduler answers."""

    protocol: int
    incarnation: int
    """Rises with every start of the scheduler; grants with a lower number than was seen are void."""
    epoch: int
    lease_s: float
    """The grants hold for this long on the receiver's clock, counted from the sending of the beat."""
    next_beat_s: float
    """When to beat again; sooner if a job begins or ends."""
    grants: dict[str, float] = {}
    """Cores by job id. 0 is a wait (held, or its turn comes later); a job that is missing is not decided yet."""
    standby: list[str] = []
    """Jobs in the order in which they take what the others leave idle: whoever values one more core most comes first.
    The rest come after them, in proportion to their cores; one without cores that is not named here takes nothing."""
    kept: list[str] = []
    """Jobs that keep to their cores even while slots are idle: there is a limit to the cores of their user."""
    users_first: bool = False
    """Users share before their jobs do: a slot goes to the user who is latest, then to one of that user's jobs."""
    standings: dict[str, Standing] = {}
    """How far each training job has come, as the latest decision saw it."""
    cores: float | None = None
    """Cores of the whole application until the next decision. Jobs that are not decided yet get what the others leave
    of them, so that an application whose jobs come and go keeps to its cores. None: there is no such limit."""
    resend: dict[str, int] = {}
    """Jobs the scheduler does not know: send their declaration, and their reports from this number on."""
    saved: list[str] = []
    """Ended jobs that are on disk; there is no need to mention them again."""
    cancel: list[str] = []
    """Jobs their user wants to end; repeated until they do."""
    stop: list[str] = []
    """Jobs that should end after their iteration under way, with the model they have; repeated until they do."""
    notice: str = ""
    """A sentence for the user of this application, if there is one."""
    oldest: int = 0
    """The oldest version that understands this answer; 0: only its own."""


def job_key(app: str, job: str) -> str:
    """The id of a job for everyone but its own application."""
    return f"{app}-{job}"

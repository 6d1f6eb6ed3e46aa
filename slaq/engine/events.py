"""What can happen: the only input of the engine. Every event carries its time; recorded, they replay a run."""

from msgspec import Struct

from slaq.engine.state import UserDue
from slaq.model import Job, Report, Tuning
from slaq.model.life import Command


class JobJoined(Struct, frozen=True, tag=True):
    """A job begins; joining again under the same id changes what its driver declares and keeps what the engine knows.

    What its user is due (weight, reserved cores, quota) comes by `SharesChanged` from then on.
    """

    now_s: float
    job: Job


class JobReported(Struct, frozen=True, tag=True):
    """A job finished iterations."""

    now_s: float
    job_id: str
    reports: tuple[Report, ...]
    held_core_s: float | None = None
    """Core-seconds its tasks have held so far; None: not known."""
    due_core_s: float | None = None
    """Core-seconds that the tasks left in its stages under way will hold; None: not known."""


class JobSeen(Struct, frozen=True, tag=True):
    """A job's driver is alive, though it has nothing to report."""

    now_s: float
    job_id: str
    held_core_s: float | None = None
    due_core_s: float | None = None


class JobMoved(Struct, frozen=True, tag=True):
    """A job is held, released, out of tasks, at work again, or over: see `slaq.model.life`."""

    now_s: float
    job_id: str
    move: Command


class Share(Struct, frozen=True, array_like=True):
    """What one job is due by its user's standing."""

    job_id: str
    weight: float
    reserved_cores: float
    max_cores: float
    over_quota: bool = False


class SharesChanged(Struct, frozen=True, tag=True):
    """What jobs are due changed. It says nothing of their drivers: a silent job stays silent."""

    now_s: float
    shares: tuple[Share, ...]


class UsersChanged(Struct, frozen=True, tag=True):
    """How cores are shared between users, and what each of them is due, from the next epoch on."""

    now_s: float
    fair: bool
    """Each user's cores are decided first; false: the policy looks at all jobs alike."""
    users: tuple[UserDue, ...] = ()


class CapacityChanged(Struct, frozen=True, tag=True):
    """The number of cores to share out changed."""

    now_s: float
    cores: int


class PolicyChanged(Struct, frozen=True, tag=True):
    """Another policy decides from the next epoch on; it begins with nothing remembered."""

    now_s: float
    policy: str


class PredictorChanged(Struct, frozen=True, tag=True):
    """Another predictor looks ahead from the next epoch on."""

    now_s: float
    predictor: str


class TuningChanged(Struct, frozen=True, tag=True):
    """Other lengths of epoch and lease, or other tuning, from the next epoch on; what is None stays."""

    now_s: float
    epoch_s: float | None = None
    lease_s: float | None = None
    tuning: Tuning | None = None


class EpochEnded(Struct, frozen=True, tag=True):
    """Time for the next decision."""

    now_s: float


Event = (
    JobJoined | JobReported | JobSeen | JobMoved | SharesChanged | UsersChanged | CapacityChanged | PolicyChanged
    | PredictorChanged | TuningChanged | EpochEnded
)  # fmt: skip
"""Any of them. `msgspec.msgpack` writes and reads them exactly; JSON would lose infinity."""

"""What can happen: the only input of the engine. Every event carries its time; recorded, they replay a run."""

from msgspec import Struct

from slaq.model import Iteration, Job


class JobJoined(Struct, frozen=True, tag=True):
    """A job begins; joining again under the same id changes what it declared and keeps its history."""

    now_s: float
    job: Job


class JobReported(Struct, frozen=True, tag=True):
    """A job finished iterations."""

    now_s: float
    job_id: str
    reports: tuple[Iteration, ...]
    held_core_s: float | None = None
    """Core-seconds its tasks have held so far; None: not known."""


class JobSeen(Struct, frozen=True, tag=True):
    """A job is alive, though it has nothing to report; `max_cores` may have changed with its stage."""

    now_s: float
    job_id: str
    max_cores: float | None = None
    held_core_s: float | None = None


class JobChanged(Struct, frozen=True, tag=True):
    """Its user gives a job another weight, holds or releases it; what is None stays."""

    now_s: float
    job_id: str
    weight: float | None = None
    held: bool | None = None


class JobLeft(Struct, frozen=True, tag=True):
    """A job is over."""

    now_s: float
    job_id: str


class CapacityChanged(Struct, frozen=True, tag=True):
    """The number of cores to share out changed."""

    now_s: float
    cores: int


class PolicyChanged(Struct, frozen=True, tag=True):
    """Another policy decides from the next epoch on."""

    now_s: float
    policy: str


class EpochEnded(Struct, frozen=True, tag=True):
    """Time for the next decision."""

    now_s: float


Event = JobJoined | JobReported | JobSeen | JobChanged | JobLeft | CapacityChanged | PolicyChanged | EpochEnded
"""Any of them. `msgspec.msgpack` writes and reads them exactly; JSON would lose NaN and infinity."""

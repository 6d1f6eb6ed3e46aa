"""What a run of a stream leaves behind: plain records that travel as JSON."""

from msgspec import Struct


class Trained(Struct, frozen=True):
    """One job that ran. Times are seconds after the stream's begin, on one clock."""

    name: str
    algorithm: str
    arrived_s: float
    ended_s: float
    times_s: tuple[float, ...]
    """When each loss was known, oldest first."""
    losses: tuple[float, ...]
    model: tuple[float, ...] = ()
    """The numbers that make the model, to compare one policy's with another's."""
    error: str | None = None
    pool: str = ""
    """Its pool under Spark's FAIR, which serves pools with equally many running tasks by name."""
    max_iterations: int | None = None


class Stage(Struct, frozen=True, array_like=True):
    """One stage of a job: when it was submitted, and when each of its tasks held a slot."""

    job: str
    submitted_s: float
    launched_s: tuple[float, ...]
    finished_s: tuple[float, ...]
    """Of the same tasks, in the order in which they were launched."""


class Sample(Struct, frozen=True):
    """One job at one moment, as the bridge saw it; only SLAQ's own runs have them."""

    at_s: float
    job: str
    cores: float | None
    """Cores granted; None: not limited."""
    held_core_s: float
    """Core-seconds held so far."""
    borrowed_core_s: float
    pending: int
    """Tasks that wait: a job with none of them may hold less than it was granted."""


class StreamRun(Struct, frozen=True):
    """One stream under one policy."""

    policy: str
    round: int
    cores: int
    jobs: tuple[Trained, ...]
    makespan_s: float
    """From the first arrival to the end of the last job."""
    held_core_s: float
    """Core-seconds that tasks held."""
    cpu_s: float | None
    """CPU time of the driver's JVM and its Python workers; None where the system does not tell."""
    driver_cpu_s: float
    """CPU time of the driver's Python process, where SLAQ's agent and embedded scheduler run."""
    machine_cpu_s: float | None = None
    """CPU time of everything on the machine: what is above the run's own disturbed it."""
    samples: tuple[Sample, ...] = ()
    stages: tuple[Stage, ...] = ()
    """Every stage of every job, by its submission, where the session kept an event log."""

"""What travels between Python and the driver's JVM: grants down, one poll up."""

from typing import Any

import msgspec


class Grant(msgspec.Struct, frozen=True):
    """Cores for one job; `cap` bounds its concurrent tasks, `burst_s` the seconds of unused grant it may save up.

    Slots that nobody claims go to the jobs with a place on `standby`, the lowest first, then to those without one in
    proportion to their cores, and a second one to a job only where all that wait have one: a job with neither cores nor
    place is held.
    """

    cores: float
    cap: int | None = None
    burst_s: float = 1.0
    standby: int | None = None


class JobUsage(msgspec.Struct, frozen=True):
    """What one pool holds now and has used since it was made; sums only grow, and end with `ended`.

    `partitions` is the width of the widest recent stage, hence the number of cores the job can use at all.
    `held_s` are core-seconds of slots held, `borrowed_s` the part of them that was lent and not charged; `paused_s` are
    seconds in which the job had no stage to run.
    """

    job: str
    cores: float | None = None
    tokens: float = 0.0
    lease_s: float | None = None
    running: int = 0
    borrowed: int = 0
    pending: int = 0
    held_s: float = 0.0
    borrowed_s: float = 0.0
    paused_s: float = 0.0
    partitions: int = 0
    stages: int = 0
    tasks: int = 0
    failed_tasks: int = 0
    cpu_s: float = 0.0
    run_s: float = 0.0
    records: int = 0
    bytes: int = 0
    ended: bool = False


class Counters(msgspec.Struct, frozen=True):
    """The bridge's own state of health; `faults` counts failures inside it by place, `gate` tells an agent at work."""

    slots: int
    strict: bool
    rounds: int
    revivals: int
    leases_expired: int
    gate: bool
    stages_tracked: int
    faults: dict[str, int]


class Poll(msgspec.Struct, frozen=True):
    """One answer of the driver: every pool, those that ended since the last poll (once), what the probe saw."""

    jobs: list[JobUsage]
    counters: Counters
    events: list[dict[str, Any]]
    probe: dict[str, Any]

    def job(self, name: str) -> JobUsage:
        """The usage of one pool; KeyError if the driver does not know it (any more)."""
        for usage in self.jobs:
            if usage.job == name:
                return usage
        raise KeyError(name)

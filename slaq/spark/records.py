"""What travels between Python and the driver's JVM: grants down; events, usages and counters up."""

from collections.abc import Iterable
from typing import Any

import msgspec


class Grant(msgspec.Struct, frozen=True):
    """Cores for one job; `cap` bounds its concurrent tasks, `burst_s` the seconds of unused grant it may save up.

    Idle slots are lent to the jobs with a place on `standby`, the lowest first, then to those without one in proportion
    to their cores. A job gets a second slot only when every waiting job has one. A job with neither cores nor place is
    held.
    """

    cores: float
    cap: int | None = None
    burst_s: float = 1.0
    standby: int | None = None


class Begin(msgspec.Struct, frozen=True, tag_field="event", tag="begin", rename={"begin_ms": "beginMillis"}):
    """A training run begins: a fit that the probe saw, or a job that the user's program named.

    `seq` counts all events of one source; a reader acknowledges by it and applies each number once.
    """

    seq: int
    job: str
    estimator: str = "unknown"
    name: str = ""
    uid: str | None = None
    api: str = ""
    parent: str | None = None
    """The fit that started this one."""
    outer: str | None = None
    """The pool of its thread when it began: the named job around a fit."""
    wrapper: bool = False
    """A fit that only starts other fits: Pipeline, CrossValidator …"""
    convergence: str = "none"
    """How the curve is known to fall; `none`: no losses are to be expected."""
    params: dict[str, bool | int | float | str | None] = {}
    max_iterations: int | None = None
    weight: float | None = None
    target_loss: float | None = None
    group: str = ""
    begin_ms: int = 0
    thread: str = ""
    nanos: int = 0


class Loss(msgspec.Struct, frozen=True, tag_field="event", tag="loss"):
    """A training run finished an iteration, `nanos` nanoseconds after it began."""

    seq: int
    job: str
    iteration: int
    value: float | None
    """Lower is better; None: NaN or infinite."""
    name: str = ""
    nanos: int = 0


class End(msgspec.Struct, frozen=True, tag_field="event", tag="end"):
    """A training run is over."""

    seq: int
    job: str
    ok: bool = True
    error: str | None = None
    nanos: int = 0


FitEvent = Begin | Loss | End


class JobUsage(msgspec.Struct, frozen=True):
    """What one pool holds now and has used since it was made; sums only grow, and end with `ended`.

    `partitions` is the width of the widest recent stage, hence the number of cores the job can use at all.
    `held_s` are core-seconds of slots held, `borrowed_s` the part of them that was lent and not charged; `paused_s` are
    seconds in which the job had no stage to run. The last usage of a pool has a number among the events.
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
    seq: int = 0


class Counters(msgspec.Struct, frozen=True):
    """The bridge's own state of health; `faults` counts failures inside it by place.

    `gate`: the agent is loaded, so that caps hold for every single task.
    """

    slots: int
    strict: bool
    rounds: int
    revivals: int
    leases_expired: int
    gate: bool
    stages_tracked: int
    faults: dict[str, int]


class ProbeHealth(msgspec.Struct, frozen=True):
    """The probe's own counters: hooks in place, hooks that did not fit this Spark, failures, losses nobody fetched."""

    applied: dict[str, int] = {}
    missed: dict[str, int] = {}
    errors: dict[str, int] = {}
    orphans: int = 0
    warnings: int = 0
    dropped: int = 0


class Poll(msgspec.Struct, frozen=True):
    """One answer of the driver: every pool, the numbered events and last usages after those acknowledged, counters.

    `complete` is the number to acknowledge once everything in here was applied.
    """

    jobs: list[JobUsage]
    counters: Counters
    events: list[FitEvent] = []
    complete: int = 0
    probe: ProbeHealth = ProbeHealth()
    malformed: int = 0
    """Events that could not be decoded; the others are not affected."""

    def job(self, name: str) -> JobUsage:
        """The usage of one pool; KeyError if the driver does not know it (any more)."""
        for usage in self.jobs:
            if usage.job == name:
                return usage
        raise KeyError(name)


class _RawPoll(msgspec.Struct, frozen=True):
    jobs: list[JobUsage]
    counters: Counters
    events: list[msgspec.Raw]
    complete: int
    probe: ProbeHealth


_decode_poll = msgspec.json.Decoder(Poll).decode
_decode_raw_poll = msgspec.json.Decoder(_RawPoll).decode
_decode_event: Any = msgspec.json.Decoder(FitEvent).decode


def decode_poll(text: str) -> Poll:
    """The poll; an event that is malformed is left out and counted, because it would come again for ever."""
    try:
        return _decode_poll(text)
    except msgspec.ValidationError:
        raw = _decode_raw_poll(text)
        events, malformed = decode_events(raw.events)
        return Poll(raw.jobs, raw.counters, events, raw.complete, raw.probe, malformed)


def decode_events(raw: Iterable[msgspec.Raw]) -> tuple[list[FitEvent], int]:
    """The events that are well-formed, and the number of the others."""
    events: list[FitEvent] = []
    malformed = 0
    for each in raw:
        try:
            events.append(_decode_event(each))
        except msgspec.ValidationError:
            malformed += 1
    return events, malformed

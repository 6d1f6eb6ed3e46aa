"""What travels between Python and the driver's JVM: grants down; events, usages and counters up."""

from collections.abc import Iterable
from typing import Any

import msgspec

from slaq.records import NO_WISH, Wish

ASKED, ASKED_BEFORE, UNKNOWN = "asked", "asked before", "unknown"
"""What the driver answers to a stop, unless it says why a fit cannot be stopped."""


class Grant(msgspec.Struct, frozen=True):
    """Cores for one job; `cap` bounds its concurrent tasks, `burst_s` the seconds of unused grant it may save up.

    A free slot goes to jobs with tokens first, in the order of their places on `standby`; it is lent in that order too.
    Jobs without a place come last: those that run nothing first, then in proportion to their cores. A job with neither
    cores nor place is held. A burst of 0.1 s was best in simulation: with 1 s, starved jobs save up and run ahead of
    the order.
    """

    cores: float
    cap: int | None = None
    burst_s: float = 0.1
    standby: int | None = None
    borrows: bool = True
    """False: it takes no idle slot beyond its cores."""


def grantable(job: str) -> bool:
    """Whether a name can stand in a line of grants."""
    return bool(job) and not any(character in job for character in "\t\n\r")


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
    """Where its thread was when it began: in the named job around a fit, or in a pool of the user's."""
    wrapper: bool = False
    """A fit that only starts other fits: Pipeline, CrossValidator …"""
    convergence: str = "none"
    """How the curve is known to fall; `none`: no losses are to be expected."""
    unstoppable: str | None = None
    """Why it cannot be ended early with the model it has; None: it can."""
    params: dict[str, bool | int | float | str | None] = {}
    max_iterations: int | None = None
    weight: float | None = None
    """Given by its user, or that of the pool in the user's `fairscheduler.xml` in which a fit began."""
    target_loss: float | None = None
    group: str = ""
    user: str = ""
    """For whom its thread works, where one driver serves several users; empty: for the driver's own."""
    run: str = ""
    """The tracking run that was active in the thread that called `fit`; empty: none."""
    wish: Wish = NO_WISH
    """Of a job that the user's program named."""
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
    stopped: bool = False
    """Before its time, because somebody asked for that."""


FitEvent = Begin | Loss | End


class JobUsage(msgspec.Struct, frozen=True):
    """What one pool holds now and has used since it was made; sums only grow, and end with `ended`.

    `partitions` is the width of the widest recent stage, hence the number of cores the job can use at all.
    `held_s` are core-seconds of slots held, `borrowed_s` the part of them that was lent and not charged; `paused_s` are
    seconds in which the job had no stage to run. The last usage of a pool has a number among the events.
    """

    job: str
    pool: str = ""
    """Its name in Spark's scheduler; the pools of jobs share a few names."""
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
    task_bytes: int = 0
    """The most input that one of its tasks has read."""
    ended: bool = False
    seq: int = 0
    user: str = ""
    """Whose pool it is, where one driver serves several users."""


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
    """The probe's own counters: hooks in place, hooks that did not fit this Spark and why, failures, hooks that failed
    three times and are not called any more, losses nobody fetched."""

    applied: dict[str, int] = {}
    missed: dict[str, int] = {}
    reasons: dict[str, str] = {}
    errors: dict[str, int] = {}
    stopped: dict[str, int] = {}
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
    watched: bool = False
    """Whether somebody looks at the tab in Spark's UI; then it wants to be told of the jobs, by `Bridge.show`."""

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
    watched: bool = False


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
        return Poll(raw.jobs, raw.counters, events, raw.complete, raw.probe, malformed, raw.watched)


def decode_letter(text: str) -> tuple[list[FitEvent], int]:
    """The events of a letter that are well-formed, and the number of the others; 1 for a letter that is no JSON."""
    try:
        raw = msgspec.json.decode(text, type=list[msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        return [], 1
    return decode_events(raw)


def decode_events(raw: Iterable[msgspec.Raw]) -> tuple[list[FitEvent], int]:
    """The events that are well-formed, and the number of the others."""
    events: list[FitEvent] = []
    malformed = 0
    for each in raw:
        try:
            events.append(_decode_event(each))
        except (msgspec.DecodeError, RecursionError):
            malformed += 1
    return events, malformed

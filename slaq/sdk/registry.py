"""The jobs of this process that report their own losses: which are open in which thread, and what is still unread."""

import re
import sys
import threading
import time
from collections import deque
from itertools import count

from slaq.driver.early import EarlyRule
from slaq.driver.notices import once
from slaq.protocol.names import sendable
from slaq.sdk.reported import Declared, Host, ReportedJob
from slaq.spark.records import FitEvent

ENDED_KEPT = 100
"""Ended jobs that `jobs()` still shows."""

EVENTS_KEPT = 10_000
"""Unacknowledged events; beyond them reports stay with their jobs, each of which keeps a bounded number."""

_RESERVED = re.compile(r"default$|fit-\d+$|other-\d+$")
"""Names that Spark, the probe and the driver loop give themselves."""


class Registry:
    """Open and ended jobs; every method may be called from any thread."""

    def __init__(self) -> None:
        self.host: Host | None = None
        self.finding = threading.RLock()
        """Held during the search for a host, so that all threads find the same one."""
        self._lock = threading.RLock()
        self._reading = threading.Lock()
        self._events: deque[FitEvent] = deque()
        self._numbers = count(1)
        self._open: dict[str, ReportedJob] = {}
        self._ended: dict[str, ReportedJob] = {}
        self._names: dict[str, int] = {}
        self._local = threading.local()

    def current(self) -> ReportedJob | None:
        """The innermost open job of this thread."""
        stack: list[ReportedJob] | None = getattr(self._local, "stack", None)
        while stack:
            job = stack[-1]
            if not job.ended:
                return job
            stack.pop()
        return None

    def begin(self, declared: Declared, early: EarlyRule | None = None) -> ReportedJob:
        """Open a job in this thread."""
        with self.finding:
            if self.host is None or not self.host.alive():
                self.host = _beside_the_jvm()
            host = self.host
        rule = early or (host.early if host is not None else EarlyRule())
        with self._lock:
            job = ReportedJob(self._unique(declared.name), declared, rule)
            self._open[job.id] = job
        self.move(job, host)
        if not hasattr(self._local, "stack"):
            self._local.stack = []
        self._local.stack.append(job)
        return job

    def end(self, job: ReportedJob, error: BaseException | None = None) -> None:
        """Close a job, from its own thread or from another; a second time does nothing."""
        host = job.host
        if self._close(job, error) and host is not None:
            host.ended()

    def _close(self, job: ReportedJob, error: BaseException | None = None) -> bool:
        """Close a job without telling its host; False if somebody else did."""
        with self._lock:
            if self._open.pop(job.id, None) is None:
                return False
            self._ended[job.id] = job
            self._forget_old()
        job.error = None if error is None else sendable(f"{type(error).__name__}: {error}"[:500])
        self.move(job, None)
        job.ended = True
        return True

    def move(self, job: ReportedJob, host: Host | None) -> None:
        """Take the job out of the pool it is in and into one of `host`; a failure is logged once and harms nothing."""
        before, scope, job.host, job.scope = job.host, job.scope, host, None
        if host is not None:
            job.announce_again()
        try:
            if before is not None and scope is not None and threading.current_thread() is job.thread:
                before.leave(scope)
            elif before is not None and scope is not None:
                before.abandon(job.id)
            if host is not None:
                job.scope = host.enter(job.id)
        except Exception as error:
            once("pool", "job %s has no pool of its own in Spark (%s); its losses still count", job.name, error)

    def read(self) -> list[FitEvent]:
        """Every event that is not acknowledged yet, in order within each job; ends jobs whose thread is gone."""
        now = time.monotonic()
        with self._lock:
            finished = [job for job in self._open.values() if job.over(now)]
        for job in finished:
            self._close(job)  # its host need not be told: the end is among the events read here
        with self._reading:
            for job in self.jobs():
                if len(self._events) >= EVENTS_KEPT:
                    break
                self._events.extend(job.read(self._numbers))
                if job.dropped:
                    once(f"dropped {job.id}", "%d reports of job %s were dropped unread", job.dropped, job.name)
            return list(self._events)

    def acknowledge(self, seq: int) -> None:
        """Forget the events up to this number: they were applied, or are in other hands."""
        with self._reading:
            while self._events and self._events[0].seq <= seq:
                self._events.popleft()

    def take(self) -> list[FitEvent]:
        """Read and acknowledge in one step, for a reader that cannot fail."""
        events = self.read()
        if events:
            self.acknowledge(events[-1].seq)
        return events

    def jobs(self) -> list[ReportedJob]:
        """Ended and open jobs, in this order."""
        with self._lock:
            return [*self._ended.values(), *self._open.values()]

    def end_inferred(self) -> None:
        """End every inferred job: nothing else tells that the loop of one is over."""
        for job in self.jobs():
            if job.inferred:
                self.end(job)

    def _forget_old(self) -> None:
        while len(self._ended) > ENDED_KEPT:
            oldest = next(iter(self._ended.values()))
            if self.host is not None and not oldest.read_to_end and len(self._ended) < 100 * ENDED_KEPT:
                return
            del self._ended[oldest.id]

    def _unique(self, name: str) -> str:
        """A free id made of the name, in the characters that pools, paths and messages take."""
        base = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-")[:56] or "job"
        count = self._names.get(base, 0) + 1
        free = f"{base}.{count}" if count > 1 or _RESERVED.match(base) else base
        while free != base and free in self._names:  # the name of another job
            count += 1
            free = f"{base}.{count}"
        self._names[base] = count
        self._names.setdefault(free, 1)
        return free


def _beside_the_jvm() -> Host | None:
    """The courier to the loop that the plugin started, if this process drives a Spark that has one."""
    if "pyspark" not in sys.modules:
        return None
    try:
        from slaq.sdk.courier import find_courier

        return find_courier(REGISTRY)
    except Exception as error:
        once("courier", "the jobs of this process are not reported to the plugin's agent (%s)", error)
        return None


REGISTRY = Registry()

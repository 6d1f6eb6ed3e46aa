"""The jobs of this process that report their own losses: which are open in which thread, and where reports go."""

import re
import sys
import threading
import time
from typing import Any, Protocol

from slaq.driver.early import EarlyRule
from slaq.sdk.reported import ReportedJob
from slaq.driver.notices import once
from slaq.driver.status import JobStatus
from slaq.protocol.names import sendable

ENDED_KEPT = 100
"""Ended jobs that `jobs()` still shows."""

_RESERVED = re.compile(r"default$|fit-\d+$|other-\d+$")
"""Names that Spark, the probe and the driver loop give themselves."""


class Host(Protocol):
    """Where reports go: a driver loop in this process, or a courier to one beside the JVM."""

    @property
    def early(self) -> EarlyRule:
        """The application's early answer, for jobs without one of their own."""

    def alive(self) -> bool:
        """Whether its Spark context still runs."""

    def enter(self, job_id: str) -> Any:
        """Send this thread's Spark jobs to the job's pool; the answer is for `leave`."""

    def leave(self, scope: Any) -> None:
        """Back to the pool before, in the same thread."""

    def abandon(self, job_id: str) -> None:
        """Close the pool of a job whose thread has gone."""

    def ended(self) -> None:
        """A job has ended: its last reports should not wait."""

    def statuses(self) -> list[JobStatus]:
        """All jobs of the application, also those that this process did not report."""

    def cancelled(self, job_id: str) -> bool:
        """Whether the job's user asked for its end."""


class Registry:
    """Open and ended jobs; every method may be called from any thread."""

    def __init__(self) -> None:
        self.host: Host | None = None
        self.finding = threading.RLock()
        """Held while somebody looks for a host, so that all find the same one."""
        self._lock = threading.RLock()
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

    def begin(
        self,
        name: str,
        inferred: bool,
        weight: float = 1.0,
        target_loss: float | None = None,
        max_iterations: int | None = None,
        early: EarlyRule | None = None,
    ) -> ReportedJob:
        """Open a job in this thread."""
        with self.finding:
            if self.host is None or not self.host.alive():
                self.host = _beside_the_jvm()
            host = self.host
        rule = early or (host.early if host is not None else EarlyRule())
        with self._lock:
            job = ReportedJob(self._unique(name), name, inferred, weight, target_loss, max_iterations, rule)
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
        """Take the job out of the pool it is in and into one of `host`; a failure is said once and harms nothing."""
        before, scope, job.host, job.scope = job.host, job.scope, host, None
        try:
            if scope is not None and threading.current_thread() is job.thread:
                before.leave(scope)
            elif scope is not None:
                before.abandon(job.id)
            if host is not None:
                job.scope = host.enter(job.id)
        except Exception as error:
            once("pool", "job %s has no pool of its own in Spark (%s); its losses still count", job.name, error)

    def take(self) -> list[dict[str, Any]]:
        """Everything reported since the last call, oldest first within each job; ends jobs whose thread has gone."""
        now = time.monotonic()
        with self._lock:
            finished = [job for job in self._open.values() if job.over(now)]
        for job in finished:
            self._close(job)  # whoever takes hears of it right here
        return [event for job in self.jobs() if not job.taken for event in job.take()]

    def jobs(self) -> list[ReportedJob]:
        """Ended and open jobs, in this order."""
        with self._lock:
            return [*self._ended.values(), *self._open.values()]

    def end_inferred(self) -> None:
        """End every inferred job; nothing tells when the loop of one is over, so whoever leaves says it."""
        for job in self.jobs():
            if job.inferred:
                self.end(job)

    def _forget_old(self) -> None:
        while len(self._ended) > ENDED_KEPT:
            oldest = next(iter(self._ended.values()))
            if self.host is not None and not oldest.taken and len(self._ended) < 100 * ENDED_KEPT:
                return
            del self._ended[oldest.id]

    def _unique(self, name: str) -> str:
        """A free id made of the name, in the characters that pools, paths and messages take."""
        base = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-")[:56] or "job"
        count = self._names.get(base, 0) + 1
        free = f"{base}.{count}" if count > 1 or _RESERVED.match(base) else base
        while free != base and free in self._names:  # another job is called so
            count += 1
            free = f"{base}.{count}"
        self._names[base] = count
        self._names.setdefault(free, 1)
        return free


def _beside_the_jvm() -> Host | None:
    """The courier to a loop that the plugin started, if this process drives a Spark that has one."""
    if "pyspark" not in sys.modules:
        return None
    try:
        from slaq.sdk.courier import find_courier

        return find_courier(REGISTRY)
    except Exception as error:
        once("courier", "the jobs of this process are not reported to the plugin's agent (%s)", error)
        return None


REGISTRY = Registry()

"""The Python face of the bridge inside the driver's JVM: pools, grants, polls; one py4j call each."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from slaq.errors import SlaqError
from slaq.spark.load import bridge_class
from slaq.spark.records import Grant, Poll, decode_poll, grantable

MAX_EVENTS_PER_POLL = 10_000

LAST = 2**31 - 1
"""The place of a job that is not on standby."""

NEVER = -1
"""The place of a job to which no idle slot is lent."""


class Bridge:
    """Holds jobs of one Spark application to a share of its cores.

    Get one with `Bridge.install(spark)`; installing twice gives the same JVM object. All methods may be called from
    any thread.
    """

    def __init__(self, java_bridge: Any) -> None:
        self._java = java_bridge

    @classmethod
    def install(cls, spark: SparkSession, *, strict: bool = False) -> "Bridge":
        """Put job pools into the session's scheduler, or find those that are there.

        With `strict` a throttled job gets its grant and no more; otherwise it may borrow slots that nobody claims.
        """
        context = getattr(spark, "_jsc", None)
        if context is None:
            raise SlaqError(
                f"{type(spark).__module__}.{type(spark).__name__} has no driver JVM beside this process; "
                "SLAQ works in classic sessions, not through Spark Connect"
            )
        try:
            return cls(bridge_class(spark).install(context.sc(), strict))
        except Py4JJavaError as error:
            raise SlaqError(f"the bridge cannot enter this Spark; it is as it was: {error.java_exception}") from error

    def open_pool(self, job: str) -> None:
        """Make the pool of a job before its first Spark job; each call wants its own `close_pool`."""
        self._java.openPool(valid_name(job))

    def close_pool(self, job: str) -> None:
        """Let go of a job's pool; it disappears when its last task has ended."""
        self._java.closePool(job)

    @contextmanager
    def job(self, name: str) -> Iterator[None]:
        """Run this thread's Spark jobs in a pool of their own; the thread's former pool comes back afterwards."""
        scope = self._java.enter(valid_name(name))
        try:
            yield
        finally:
            self._java.leave(scope)

    def grant(
        self,
        cores: Mapping[str, float | Grant | None],
        lease_s: float,
        total_cores: float | None = None,
    ) -> int:
        """Set the cores of the named jobs until the lease ends; None lifts a limit, jobs not named keep what they have.

        `total_cores` is what this application may use in all, lending included, when it shares the cluster with
        others. Returns how many of the jobs are known to the driver.
        """
        if not 0 < lease_s < float("inf"):
            raise SlaqError(
                f"a lease of {lease_s} s never ends or has ended; give a positive, finite number of seconds"
            )
        lines = "\n".join(grant_line(job, grant) for job, grant in cores.items())
        total = float("nan") if total_cores is None else float(total_cores)
        applied: int = self._java.grant(lines, float(lease_s), total)
        return applied

    def stop(self, job: str, why: str, after_iterations: int = 0) -> str:
        """Have a fit return the model it has once so many iterations are done; 0: after the one under way.

        Returns ASKED, ASKED_BEFORE, UNKNOWN (no such fit is open), or why it cannot be stopped.
        """
        answer: str = self._java.stop(valid_name(job), after_iterations, why)
        return answer

    def poll(self, acked: int = 0, max_events: int = MAX_EVENTS_PER_POLL) -> Poll:
        """Usage of every pool, the events after number `acked`, and counters.

        Events up to `acked` are forgotten, later ones come again with the next poll: acknowledge what was applied.
        """
        return decode_poll(self._java.poll(max_events, acked))

    def acknowledge(self, acked: int) -> None:
        """Let the driver forget the events up to this number."""
        self._java.acknowledge(acked)

    def show(self, text: str) -> None:
        """What the tab in Spark's UI shows of the jobs."""
        self._java.show(text)

    def set_strict(self, strict: bool) -> None:
        """Switch lending of idle slots off or on."""
        self._java.setStrict(strict)

    def set_users_first(self, users_first: bool) -> None:
        """Whether slots go to the user who is latest first, and only then to one of that user's jobs."""
        self._java.setUsersFirst(users_first)

    def close(self) -> None:
        """Give Spark its own pools back; running jobs go on in them. Calling it again does nothing."""
        self._java.close()


def grant_line(job: str, grant: float | Grant | None) -> str:
    """One job's grant as the driver reads it: name, cores, cap, burst, place on standby, separated by tabs."""
    if grant is None:
        return f"{valid_name(job)}\topen"
    grant = grant if isinstance(grant, Grant) else Grant(float(grant))
    if not (0 <= grant.cores < float("inf")):
        raise SlaqError(f"{grant.cores} cores for job {job!r}: give a finite number, 0 or more, or None for no limit")
    if grant.cap is not None and grant.cap < 1:
        raise SlaqError(f"a cap of {grant.cap} tasks for job {job!r} would stop it; give 1 or more, or None for no cap")
    if not grant.burst_s >= 0.01:
        raise SlaqError(f"a burst of {grant.burst_s} s for job {job!r} holds no task; give 0.01 s or more")
    place = NEVER if not grant.borrows else LAST if grant.standby is None else grant.standby
    return f"{valid_name(job)}\t{grant.cores!r}\t{grant.cap or 0}\t{grant.burst_s!r}\t{place}"


def valid_name(job: str) -> str:
    """The name, if it can stand in a line of grants; a SlaqError otherwise."""
    if not grantable(job):
        raise SlaqError(f"{job!r} cannot name a job: give a text without tabs and line breaks")
    return job

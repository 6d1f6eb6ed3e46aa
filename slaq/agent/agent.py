"""The agent: collects the driver's reports, sends them with beats, and hands the scheduler's answers to its hooks."""

import logging
import math
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from slaq.agent.breaker import Breaker
from slaq.agent.buffer import JobBuffer, batches
from slaq.agent.lease import Lease
from slaq.agent.transport import RefusedError, RejectedError, Transport, UnreachableError
from slaq.errors import SlaqError
from slaq.protocol import (
    OLDEST,
    PROTOCOL,
    Answer,
    Beat,
    Declaration,
    Ended,
    JobBeat,
    Outcome,
    Report,
    Standing,
    understood,
)
from slaq.protocol.beat import MAX_JOBS
from slaq.protocol.names import printable, sendable
from slaq.records import LARGEST_COUNT

log = logging.getLogger(__name__)
# Made here, not at the first use: two threads that make msgspec know a type at the same time crash the process.
_job_beat = msgspec.json.Decoder(JobBeat).decode

FIRST_BEAT_S = 1.0
"""Between beats, until the scheduler says otherwise."""
LONGEST_BEAT_S = 60.0
GATHER_S = 0.02
"""A job that begins, shows its first loss or ends is announced after this time, with others that do so just then."""
LAST_BEATS_S = 0.1
"""Between beats while the application waits to close."""
MOST_CORES = 1e6
LONGEST_LEASE_S = 3600.0
"""An answer with a longer lease is not believed."""
REPORTS_PER_BEAT = 4096
"""Keeps the largest beat well below the size a scheduler takes."""
ENDED_KEPT = 1000
"""Ended jobs kept for a scheduler that is away; the oldest go first."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """What the agent calls, always one at a time, from threads of its own."""

    grants: Callable[[dict[str, float], float, float | None, list[str]], None]
    """grants(cores by job, lease_s, total, standby): hold every job to these cores, and all together to the total if
    there is one, at most for so long; jobs on standby take what is left idle, in this order."""
    open: Callable[[], None]
    """Let all jobs run unthrottled: no grants are in force."""
    cancel: Callable[[str], None] = field(default=lambda _: None)
    """A user asked for this job to end; may be called again for the same job."""
    cores: Callable[[], float | None] = field(default=lambda: None)
    """The cores of the application's executors now."""
    standings: Callable[[dict[str, Standing]], None] = field(default=lambda _: None)
    """How far each job has come, as the latest decision saw it; called after `grants`."""
    stop: Callable[[str], None] = field(default=lambda _: None)
    """A user wants this job to end after its iteration under way; may be called again for the same job."""
    users: Callable[[frozenset[str], bool], None] = field(default=lambda *_: None)
    """The jobs that take no idle slots beyond their cores, and whether users share before their jobs do; called before
    `grants`."""


class Agent:
    """Speaks for all jobs of one application.

    `begin`, `report`, `end` may be called from any thread, return at once and need no scheduler. Call
    `close` at the end; a daemon thread does not keep the program alive.
    """

    def __init__(
        self,
        transport: Transport,
        hooks: Hooks,
        *,
        name: str = "",
        user: str = "",
        app: str | None = None,
    ) -> None:
        self.app = app or secrets.token_hex(8)
        self._transport, self._hooks = transport, hooks
        self._name, self._user = sendable(name[:200]), sendable(user[:200])
        self._jobs: dict[str, JobBuffer] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._closing: float | None = None
        self._breaker = Breaker()
        self._seq = 0
        self._dropped = 0
        self._incarnation = 0
        self._heard = -1e18
        self._lease_s = 0.0
        self._warned = False
        self._warned_of_drop = False
        self._notice = ""
        self._lease = Lease(self._opened)
        self._thread = threading.Thread(target=self._run, name="slaq-agent", daemon=True)
        self._thread.start()

    def begin(self, job_id: str, declaration: Declaration | None = None) -> None:
        """A job begins, or declares itself anew; a SlaqError names a value that makes no sense."""
        try:
            # Validated here as the scheduler will: now there is a caller to tell.
            wire = msgspec.json.encode(JobBeat(job_id, declaration or Declaration()))
            declaration = _job_beat(wire).declared or Declaration()
        except (msgspec.ValidationError, UnicodeEncodeError, TypeError) as error:
            raise SlaqError(f"job {job_id!r} cannot be announced: {error}") from None
        with self._lock:
            known = self._jobs.get(job_id)
            if known is None or known.ended is not None:
                self._jobs[job_id] = JobBuffer(job_id, declaration)
            elif known.declaration != declaration:
                known.declaration, known.declared = declaration, False
        self._wake.set()

    def report(
        self,
        job_id: str,
        loss: float | None,
        iteration: int | None = None,
        work_core_s: float | None = None,
        serial_s: float | None = None,
    ) -> None:
        """An iteration is over; never raises, costs microseconds. A loss of None has diverged, as NaN has.

        A report that makes no sense, or that is about a job that never began, counts as dropped.
        """
        try:
            if iteration is not None and abs(int(iteration)) > LARGEST_COUNT:
                raise OverflowError(f"iteration {iteration} is beyond {LARGEST_COUNT}")  # would spoil its whole beat
            report = Report(
                _finite(loss),
                None if iteration is None else int(iteration),
                _finite(work_core_s),
                _finite(serial_s),
            )
            with self._lock:
                job = self._jobs[job_id]
                job.add(report)
            if job.made == 1:
                self._wake.set()
        except Exception as error:
            self._drop(job_id, error)

    def idle(self, job_id: str, idle: bool = True) -> None:
        """A job has no task to run for now, or has some again; ignored for an unknown job."""
        with self._lock:
            known = self._jobs.get(job_id)
            if known is None or known.idle == idle:
                return
            known.idle = idle
        self._wake.set()

    def held(self, job_id: str, core_s: float, due_core_s: float | None = None) -> None:
        """A job's tasks have held so many core-seconds, and those left in its stages under way will hold so many more;
        told with the next beat."""
        with self._lock:
            if job_id in self._jobs:
                self._jobs[job_id].held_core_s, self._jobs[job_id].due_core_s = core_s, due_core_s

    def end(self, job_id: str, outcome: Outcome = "finished") -> None:
        """A job is over; ignored for an unknown job."""
        with self._lock:
            known = self._jobs.get(job_id)
            if known is None or known.ended is not None:
                return
            known.ended = Ended(outcome, time.time())
            over = [job_id for job_id, job in self._jobs.items() if job.ended is not None]
            for oldest in over[:-ENDED_KEPT]:
                self._forget(oldest)
        self._wake.set()

    @property
    def connected(self) -> bool:
        """Whether a scheduler's grants are in force."""
        return self._lease.holds

    @property
    def dropped(self) -> int:
        """Reports that will not reach the scheduler: it was away for too long, refused them, or they made no sense."""
        with self._lock:
            return self._dropped + sum(job.dropped for job in self._jobs.values())

    def close(self, timeout_s: float = 2.0) -> None:
        """Tell the scheduler what it has not heard, for at most this time; then all jobs run unthrottled."""
        self._closing = time.monotonic() + timeout_s
        self._wake.set()
        self._thread.join(timeout_s)
        self._transport.abort()
        self._lease.close()

    def _run(self) -> None:
        due = time.monotonic()
        while self._closing is None:
            woken = self._wake.wait(max(due - time.monotonic(), 0.0))
            self._wake.clear()
            if woken and not self._breaker.failures:
                due = min(due, time.monotonic() + GATHER_S)
            if time.monotonic() >= due:
                due = time.monotonic() + self._attempt(leaving=False)
        while time.monotonic() < self._closing:
            delay = self._attempt(leaving=True)
            if not self._breaker.failures and not self._unfinished():
                return
            time.sleep(min(delay, LAST_BEATS_S))

    def _unfinished(self) -> bool:
        with self._lock:
            return any(job.waiting or (job.ended and not job.asked) for job in self._jobs.values())

    def _attempt(self, leaving: bool) -> float:
        """Beat once, in as many messages as it takes; the seconds until the next time."""
        try:
            delay = self._beat(leaving)
        except Exception as error:
            self._warn(error)
            return self._breaker.failed(isinstance(error, RefusedError))
        self._breaker.succeeded()
        return delay

    def _beat(self, leaving: bool) -> float:
        with self._lock:
            messages = batches(self._jobs.values(), MAX_JOBS, REPORTS_PER_BEAT)
        heard = self._incarnation  # as of now: what a later answer asks for is in none of these messages
        delay = FIRST_BEAT_S
        for number, jobs in enumerate(messages):
            sent_at = time.monotonic()
            beat = self._message(jobs, heard, leaving and number == len(messages) - 1)
            try:
                answer = self._transport.exchange(beat)
            except RejectedError:
                self._give_up(jobs)
                raise
            self._accept(beat, answer, sent_at)
            delay = answer.next_beat_s
        with self._lock:
            more = any(job.waiting for job in self._jobs.values())
        return GATHER_S if more else min(max(delay, GATHER_S), LONGEST_BEAT_S)

    def _message(self, jobs: list[JobBeat], heard: int, leaving: bool) -> Beat:
        self._seq += 1
        return Beat(
            protocol=PROTOCOL,
            app=self.app,
            seq=self._seq,
            incarnation=heard,
            name=self._name,
            user=self._user,
            cores=self._cores(),
            jobs=jobs,
            dropped=self.dropped,
            leaving=leaving,
            oldest=OLDEST,
        )

    def _cores(self) -> float | None:
        try:
            cores = self._hooks.cores()
            return cores if cores is not None and 0.0 <= cores <= MOST_CORES else None
        except Exception:
            return None  # asked again with the next beat; a driver that is shutting down cannot tell

    def _accept(self, beat: Beat, answer: Answer, sent_at: float) -> None:
        if not understood(answer.protocol, answer.oldest):
            raise RefusedError(f"the scheduler speaks protocol {answer.protocol}, this driver {PROTOCOL}")
        if wrong := _wrong(answer):
            raise UnreachableError(f"an answer that makes no sense: {wrong}")
        if answer.incarnation < self._incarnation and sent_at - self._heard < self._lease_s:
            self._transport.abort()  # the newer one may be at the other end of a new connection
            raise UnreachableError("an answer of a scheduler that was replaced by a newer one")
        self._incarnation, self._heard, self._lease_s = answer.incarnation, sent_at, answer.lease_s
        with self._lock:
            for sent in beat.jobs:
                job = self._jobs.get(sent.id)
                if job is None:
                    continue
                if sent.id in answer.resend:
                    job.again(answer.resend[sent.id], sent)
                else:
                    job.arrived(sent)
            for job_id in answer.saved:
                if job_id in self._jobs and self._jobs[job_id].ended is not None:
                    self._forget(job_id)
            live = {job_id for job_id, job in self._jobs.items() if job.ended is None}
        grants = {job_id: cores for job_id, cores in answer.grants.items() if job_id in live}
        granted = (grants, answer.lease_s, answer.cores, answer.standby)
        standings = {job_id: standing for job_id, standing in answer.standings.items() if job_id in live}

        kept = frozenset(live.intersection(answer.kept))

        def apply() -> None:
            self._safely(self._hooks.users, kept, answer.users_first)
            self._safely(self._hooks.grants, *granted)
            self._safely(self._hooks.standings, standings)

        self._lease.renew(sent_at + answer.lease_s, apply)
        for job_id in live.intersection(answer.cancel):
            self._safely(self._hooks.cancel, job_id)
        for job_id in live.intersection(answer.stop):
            self._safely(self._hooks.stop, job_id)
        if answer.notice and answer.notice != self._notice:  # it is repeated while it holds
            log.warning("the SLAQ scheduler says: %s", printable(answer.notice))
        self._notice = answer.notice or self._notice

    def _opened(self) -> None:
        self._safely(self._hooks.open)
        self._transport.abort()

    def _give_up(self, jobs: list[JobBeat]) -> None:
        """Drop what was rejected: it would be rejected again."""
        with self._lock:
            for sent in jobs:
                if sent.id in self._jobs and sent.reports:
                    self._dropped += len(sent.reports)
                    self._jobs[sent.id].again(sent.first + len(sent.reports), sent)

    def _drop(self, job_id: str, error: Exception) -> None:
        with self._lock:
            self._dropped += 1
        if not self._warned_of_drop:
            self._warned_of_drop = True
            log.warning("a report of job %r was dropped: %r; later ones are only counted", job_id, error)

    def _forget(self, job_id: str) -> None:
        self._dropped += self._jobs.pop(job_id).dropped

    def _warn(self, error: Exception) -> None:
        level = logging.DEBUG if self._warned else logging.WARNING
        self._warned = True
        fault = None if isinstance(error, SlaqError) else error  # a defect: worth a stack trace
        log.log(
            level, "no SLAQ scheduler to follow, jobs run unthrottled until there is one: %s", error, exc_info=fault
        )

    def _safely(self, call: Callable[..., None], *arguments: object) -> None:
        """A hook that fails must stop neither beats nor leases."""
        try:
            call(*arguments)
        except Exception:
            log.exception("a hook of the SLAQ agent failed")


def _finite(value: float | None) -> float | None:
    """The value as a float; None if it is NaN or infinite, which JSON cannot carry."""
    if value is None:
        return None
    value = float(value)
    return value if math.isfinite(value) else None


def _wrong(answer: Answer) -> str | None:
    """What is wrong with the answer's numbers; None: nothing."""
    if not 0.0 < answer.lease_s <= LONGEST_LEASE_S:
        return f"its lease_s is {answer.lease_s}"
    if not 0 <= answer.incarnation <= LARGEST_COUNT:  # a beat could not carry it
        return f"its incarnation is {answer.incarnation}"
    cores = [*answer.grants.values(), answer.cores or 0.0]
    return None if all(0.0 <= each < math.inf for each in cores) else "it grants a negative or infinite number of cores"

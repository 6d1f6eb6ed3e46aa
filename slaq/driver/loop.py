"""The driver loop: polls the bridge, tells the agent what the jobs did, holds the pools to what the agent answers.

One thread, one py4j call a turn. It runs in the driver's Python process after `slaq.attach`, or in the sidecar beside
a driver that was started with the plugin. Events are acknowledged once they were applied: a turn that fails is repeated
and loses nothing.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence

from slaq.agent import Agent, Hooks
from slaq.config import Config
from slaq.driver.early import EarlyRule
from slaq.driver.granting import pool_grants
from slaq.driver.inbox import Inbox, Mailbox
from slaq.driver.journal import Journal
from slaq.driver.notices import log, once
from slaq.driver.other import OtherWork
from slaq.driver.progress import Progress
from slaq.driver.siblings import Siblings
from slaq.driver.status import JobStatus
from slaq.driver.stopping import Stopping
from slaq.driver.telling import Teller
from slaq.driver.tracked import CUSTOM, TrackedJob
from slaq.driver.web_tab import WebTab
from slaq.protocol import Outcome, Standing
from slaq.spark.bridge import Bridge
from slaq.spark.records import Begin, End, FitEvent, JobUsage, Loss, Poll

TURN_S = 0.1
IDLE_TURN_S = 0.25
"""Between two turns while no job trains."""
LONGEST_TURN_S = 5.0
"""Between two turns that fail: the delay doubles up to here. The leases in the JVM open every pool meanwhile."""
FAILURES_ENDURED = 3
"""Failing turns in a row before the user is told."""

ENDED_KEPT = 200
EVENTS_IN_RING = 1 << 16
"""All that the driver's JVM keeps."""


class DriverLoop:
    """Follows all jobs of one Spark application. Methods may be called from any thread."""

    def __init__(
        self,
        bridge: Bridge,
        connect: Callable[[Hooks], Agent],
        config: Config,
        app_name: str,
        mailbox: Mailbox,
        alive: Callable[[], bool] = lambda: True,
        past: Collection[str] = (),
        heard: Sequence[Callable[[FitEvent], None]] = (),
    ) -> None:
        """`past` are fits to leave alone: they were over before this loop began. `heard` get the events of others."""
        self.bridge = bridge
        self.config = config
        self.early = early_rule(config)
        self._mailbox, self._alive = mailbox, alive
        self._past = frozenset(past)
        self._heard = heard
        self._reported, self._probed = Inbox(), Inbox()
        self._journal = Journal(config.journal) if config.journal else None
        self._progress = Progress() if config.progress else None
        self._jobs: dict[str, TrackedJob] = {}
        self._siblings = Siblings()
        self._ended: deque[TrackedJob] = deque(maxlen=ENDED_KEPT)
        self._to_cancel: set[str] = set()
        self._slots: float | None = None
        self._kept: frozenset[str] = frozenset()
        self._users_first = False
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="slaq-driver-loop", daemon=True)
        self._other = OtherWork(app_name, config.weight, bool(config.endpoint))
        self._teller = Teller(config, self.early)
        self._stopping, self._web_tab = Stopping(config), WebTab(config.endpoints)
        # Last: its threads call back at once.
        self.agent = connect(
            Hooks(
                self._granted, self._opened, self._cancelled, self._cores, self._stood, self._stopping.ask, self._share
            )
        )

    def start(self) -> None:
        """Begin turning."""
        self._thread.start()

    def stop(self) -> None:
        """Apply the last events, close the agent, end the thread."""
        self._stop.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout=5.0)

    def statuses(self) -> list[JobStatus]:
        """Running and ended jobs."""
        with self._lock:
            return [job.status() for job in (*self._ended, *self._jobs.values())]

    def standing(self, job_id: str) -> Standing | None:
        """How far a running job has come, if a scheduler says so."""
        with self._lock:
            return self._jobs[job_id].standing if job_id in self._jobs else None

    def cancelled(self, job_id: str) -> bool:
        """Whether a job's user asked for its end."""
        return job_id in self._to_cancel

    def stopping(self, job_id: str) -> bool:
        """Whether a job is to end early, with the model it has."""
        return self._stopping.asked(job_id)

    def turn(self) -> None:
        """Apply everything that happened since the last turn."""
        poll = self.bridge.poll(self._probed.applied)
        self._slots = float(poll.counters.slots)
        letters = self._mailbox.read()
        with self._lock:
            # The mailbox first: a fit may begin inside a job that its user named in the same turn.
            self._reported.apply(letters, self._happened)
            self._probed.apply(poll.events, self._happened)
            self._used(poll)
            for job in list(self._jobs.values()):
                self._tell(job)
                self._stopping.consider(job, time.time())
            jobs = dict(self._jobs)
            known = self._known(poll)
            self._other.seen(self.agent, [usage for usage in poll.jobs if usage.job not in known], time.monotonic())
            self._probed.complete(poll.complete)
        self._mailbox.acknowledge(self._reported.applied)
        self._stopping.carry_out(self.bridge, jobs)
        self._warn_of_losses(poll)
        if poll.watched:
            self._web_tab.tell(self.bridge.show, self.statuses)
        if self._progress is not None and self._progress.due():
            self._progress.show(self._running())

    def _running(self) -> list[JobStatus]:
        with self._lock:
            return [job.status() for job in self._jobs.values() if job.trains]

    def _run(self) -> None:
        failures = 0
        while not self._stop.is_set() and self._alive():
            try:
                self.turn()
                if failures >= FAILURES_ENDURED:
                    log.warning("SLAQ: the driver loop is back after %d failed turns", failures)
                failures = 0
            except Exception as error:
                failures += 1
                log.debug("a turn of SLAQ's driver loop failed", exc_info=True)
                if failures == FAILURES_ENDURED:
                    log.warning("SLAQ: the driver loop keeps failing (%r) and tries again; see debug log", error)
            self._stop.wait(self._pause_s(failures))
        self._leave()

    def _pause_s(self, failures: int) -> float:
        usual_s = TURN_S if self._jobs else IDLE_TURN_S
        return min(usual_s * 2.0 ** min(failures, 16), LONGEST_TURN_S) if failures else usual_s

    def _leave(self) -> None:
        try:
            self.turn()
            self.bridge.acknowledge(self._probed.applied)
        except Exception:
            log.debug("the last turn of SLAQ's driver loop failed", exc_info=True)
        with self._lock:
            for job in list(self._jobs.values()):
                self._finish(job, "cancelled")
            self._other.close(self.agent)
        if self._progress is not None:
            self._progress.close()
        self.agent.close(timeout_s=1.0)

    def _happened(self, event: FitEvent) -> None:
        if event.job in self._past:
            return
        for hear in self._heard:
            hear(event)
        if isinstance(event, Begin):
            group = self._siblings.begin(event)
            if not event.wrapper:
                self._begin(TrackedJob(event, time.time(), group))
            return
        if isinstance(event, End):
            self._siblings.end(event.job)
        job = self._jobs.get(event.job)
        if job is None:
            return
        if isinstance(event, Loss):
            job.loss(event)
        elif isinstance(event, End):
            job.end(event)

    def _begin(self, job: TrackedJob) -> None:
        """A fit inside `with slaq.job(…)` inherits what was declared there; the outer job itself then only waits."""
        self._jobs[job.id] = job
        outer = self._jobs.get(job.begin.outer or "")
        if outer is not None:
            job.inherit(outer)
        for member in [other for other in self._jobs.values() if other.siblings == job.siblings]:
            member.tell_apart(self._siblings.differing(member.siblings, member.begin.params))

    def _used(self, poll: Poll) -> None:
        for usage in poll.jobs:
            job = self._jobs.get(usage.job) or (self._over(usage) if usage.ended else None)
            if job is not None:
                job.usage = usage

    def _over(self, usage: JobUsage) -> TrackedJob | None:
        return next((job for job in reversed(self._ended) if job.id == usage.job), None)

    def _tell(self, job: TrackedJob) -> None:
        """Bring the agent up to date about one job; what fails comes again with the next turn."""
        try:
            self._teller.tell(self.agent, job, time.monotonic())
            if job.outcome is not None:
                self._finish(job, job.outcome)
        except Exception as error:
            once(f"tell {job.id}", "job %s could not be reported (%r); it is tried again", job.name, error)

    def _finish(self, job: TrackedJob, outcome: Outcome) -> None:
        self.agent.end(job.id, outcome)
        job.outcome = outcome
        del self._jobs[job.id]
        self._ended.append(job)
        self._to_cancel.discard(job.id)
        self._stopping.forget(job.id)
        if self._journal is not None and (job.trains or job.estimator != CUSTOM):
            self._journal.write(job.status())

    def _known(self, poll: Poll) -> set[str]:
        """Pools of training runs, among them those whose last tasks outlive them.

        Where more tasks are pending in the pool of a run that is over, its thread went on to other work. That has to be
        announced, or it waits for cores that nobody asks for.
        """
        over = {job.id for job in self._ended}
        outlived = {usage.job for usage in poll.jobs if usage.ended or (usage.job in over and not usage.pending)}
        return {*self._jobs, *outlived}

    def _warn_of_losses(self, poll: Poll) -> None:
        if poll.malformed:
            once("malformed", "%d events of the probe could not be read and were skipped", poll.malformed)
        if poll.probe.dropped:
            once("ring", "%d events were dropped in the driver's JVM before they were read", poll.probe.dropped)

    def _granted(self, cores: dict[str, float], lease_s: float, total: float | None, standby: list[str]) -> None:
        with self._lock:
            pools, idle = self._other.pools(), self._other.take_idle()
            for job_id, granted in cores.items():
                if job_id in self._jobs:
                    self._jobs[job_id].cores = granted
        grants = pool_grants(cores, standby, self._kept, pools)
        # Work that is over holds no cores; when there is more of it, it starts without a grant.
        grants |= dict.fromkeys(idle)
        # Alone in its cluster a driver may lend all its slots; beside others only what it was given.
        self.bridge.grant(grants, lease_s, total if self.config.endpoint else None)

    def _share(self, kept: frozenset[str], users_first: bool) -> None:
        self._kept = kept
        if users_first != self._users_first:
            self.bridge.set_users_first(users_first)
            self._users_first = users_first

    def _stood(self, standings: dict[str, Standing]) -> None:
        with self._lock:
            for job in self._jobs.values():
                job.standing = standings.get(job.id, job.standing)

    def _opened(self) -> None:
        with self._lock:
            names: list[str] = [*self._jobs, *self._other.pools().values()]
            for job in self._jobs.values():
                job.cores = job.standing = None
        if self._alive():
            self.bridge.grant(dict.fromkeys(names), 1.0)

    def _cancelled(self, job_id: str) -> None:
        self._to_cancel.add(job_id)

    def _cores(self) -> float | None:
        return self._slots


def finished_fits(bridge: Bridge) -> frozenset[str]:
    """The fits that were over before somebody followed them."""
    events = bridge.poll(max_events=EVENTS_IN_RING).events
    return frozenset(event.job for event in events if isinstance(event, End))


def early_rule(config: Config) -> EarlyRule:
    """The application's early answer."""
    return EarlyRule(config.early_answer, config.early_share, config.early_patience, config.early_tolerance)

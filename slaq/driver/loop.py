"""The driver loop: polls the bridge, tells the agent what the jobs did, holds the pools to what the agent answers.

One thread, one py4j call a turn. It runs in the driver's Python process after `slaq.attach`, or in the sidecar beside
a driver that was started with the plugin.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from slaq.agent import Agent, Hooks
from slaq.config import Config
from slaq.driver.early import EarlyRule
from slaq.driver.journal import Journal
from slaq.driver.other import PAUSE_S, OtherWork
from slaq.driver.progress import Progress
from slaq.driver.notices import log, once
from slaq.driver.status import JobStatus
from slaq.driver.tracked import TrackedJob
from slaq.errors import SlaqError
from slaq.protocol import Declaration, Outcome
from slaq.spark.bridge import Bridge
from slaq.spark.records import Grant, Poll

TURN_S = 0.1
IDLE_TURN_S = 0.25
"""Between two turns while no job trains."""

ENDED_KEPT = 200
FAILURES_ENDURED = 5
"""Turns in a row that may fail before the loop gives up; the leases in the JVM then open every pool."""

Mail = Callable[[], list[dict[str, Any]]]
"""Events of jobs that report their own losses, since the last call."""


class DriverLoop:
    """Follows all jobs of one Spark application. Methods may be called from any thread."""

    def __init__(
        self,
        bridge: Bridge,
        connect: Callable[[Hooks], Agent],
        config: Config,
        app_name: str,
        mail: Mail,
        alive: Callable[[], bool] = lambda: True,
        backlog: Sequence[dict[str, Any]] = (),
    ) -> None:
        self.bridge = bridge
        self.config = config
        self.early = early_rule(config)
        self._mail, self._alive = mail, alive
        self._backlog = list(backlog)
        self._journal = Journal(config.journal) if config.journal else None
        self._progress = Progress() if config.progress else None
        self._jobs: dict[str, TrackedJob] = {}
        self._ended: deque[TrackedJob] = deque(maxlen=ENDED_KEPT)
        self._to_cancel: set[str] = set()
        self._slots: float | None = None
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="slaq-driver-loop", daemon=True)
        self._other = OtherWork(app_name, config.weight, bool(config.endpoint))
        # Last: its threads call back at once.
        self.agent = connect(Hooks(self._granted, self._opened, self._cancelled, self._cores))

    def start(self) -> None:
        """Begin turning."""
        self._thread.start()

    def stop(self) -> None:
        """Take the last events, say goodbye to the scheduler, end the thread."""
        self._stop.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout=5.0)

    def statuses(self) -> list[JobStatus]:
        """Running and ended jobs."""
        with self._lock:
            return [job.status() for job in (*self._ended, *self._jobs.values())]

    def cancelled(self, job_id: str) -> bool:
        """Whether a job's user asked for its end."""
        return job_id in self._to_cancel

    def turn(self) -> None:
        """Everything that happened since the last turn."""
        poll = self.bridge.poll()
        self._slots = float(poll.counters.slots)
        mail = self._mail()
        with self._lock:
            # Mail first: a fit may stand inside a job that its user named in the same turn.
            backlog, self._backlog = self._backlog, []
            for event in (*mail, *backlog, *poll.events):
                self._happened(event)
            self._used(poll)
            for job in list(self._jobs.values()):
                self._tell(job)
            known = self._known(poll)
            self._other.seen(self.agent, [usage for usage in poll.jobs if usage.job not in known], time.monotonic())
        if self._progress is not None and self._progress.due():
            self._progress.show(self._running())

    def _running(self) -> list[JobStatus]:
        with self._lock:
            return [job.status() for job in self._jobs.values() if job.trains]

    def _run(self) -> None:
        failures = 0
        while not self._stop.is_set():
            try:
                if not self._alive():
                    break
                self.turn()
                failures = 0
            except Exception as error:
                failures += 1
                log.debug("a turn of SLAQ's driver loop failed", exc_info=True)
                if failures >= FAILURES_ENDURED:
                    once("loop", "the driver loop gives up (%s); jobs run unthrottled", error)
                    break
            self._stop.wait(TURN_S if self._jobs else IDLE_TURN_S)
        self._leave()

    def _leave(self) -> None:
        try:
            self.turn()
        except Exception:
            log.debug("the last turn of SLAQ's driver loop failed", exc_info=True)
        with self._lock:
            for job in list(self._jobs.values()):
                self._finish(job, "cancelled")
            self._other.close(self.agent)
        if self._progress is not None:
            self._progress.close()
        self.agent.close(timeout_s=1.0)

    def _happened(self, event: dict[str, Any]) -> None:
        if event["event"] == "begin":
            if not event.get("wrapper"):
                self._begin(TrackedJob(event, time.time()))
            return
        job = self._jobs.get(event["job"])
        if job is None:
            return
        if event["event"] == "loss":
            job.loss(event)
        else:
            job.end(event)

    def _begin(self, job: TrackedJob) -> None:
        """A fit inside `with slaq.job(…)` takes its name, weight and target; the outer job itself then only waits."""
        self._jobs[job.id] = job
        outer = self._jobs.get(job.outer or "")
        if outer is not None:
            job.name = f"{outer.name}/{job.name}"
            job.weight, job.target_loss = outer.weight, outer.target_loss

    def _used(self, poll: Poll) -> None:
        for usage in poll.jobs:
            job = self._jobs.get(usage.job)
            if job is not None:
                job.usage = usage

    def _tell(self, job: TrackedJob) -> None:
        """Bring the agent up to date about one job."""
        active = job.active(time.monotonic())
        reports = job.costs()
        if job.announced or active or reports:
            declaration = job.declaration(self.config.weight, self.config.reserved_cores, self.config.max_cores)
            if declaration != job.announced:
                self._announce(job, declaration)
        if self.config.endpoint:  # a driver of its own lends what its jobs leave by itself, and sooner
            self.agent.idle(job.id, job.idle_s > PAUSE_S)
        self.agent.held(job.id, job.usage.held_s)
        for report in reports:
            self.agent.report(job.id, **report)
        if reports and self.early.action != "off" and job.estimator != "custom":
            reason = job.judge(self.early)
            if reason is not None:
                log.warning("SLAQ: %s (%s) is good enough at iteration %s: %s", job.id, job.name, job.iteration, reason)
        if job.outcome is not None:
            self._finish(job, job.outcome)

    def _announce(self, job: TrackedJob, declaration: Declaration) -> None:
        job.announced = declaration  # also if it is refused: it would be again, and costs this job only
        try:
            self.agent.begin(job.id, declaration)
        except SlaqError as error:
            once(f"refused {job.id}", "%s; it runs unscheduled", error)

    def _finish(self, job: TrackedJob, outcome: Outcome) -> None:
        job.outcome = outcome
        del self._jobs[job.id]
        self._ended.append(job)
        self._to_cancel.discard(job.id)
        self.agent.end(job.id, outcome)
        if self._journal is not None and (job.trains or job.estimator != "custom"):
            self._journal.write(job.status())

    def _known(self, poll: Poll) -> set[str]:
        """Pools of training runs, among them those whose last tasks outlive them.

        Where more tasks wait in the pool of a run that is over, its thread went on to other work: that must be
        announced, or it waits for cores that nobody asks for.
        """
        over = {job.id for job in self._ended}
        outlived = {usage.job for usage in poll.jobs if usage.ended or (usage.job in over and not usage.pending)}
        return {*self._jobs, *outlived}

    def _granted(self, cores: dict[str, float], lease_s: float, total: float | None, standby: list[str]) -> None:
        with self._lock:
            pools, idle = self._other.pools(), self._other.take_idle()
            for job_id, granted in cores.items():
                if job_id in self._jobs:
                    self._jobs[job_id].cores = granted
        order = {job_id: place for place, job_id in enumerate(standby)}
        grants: dict[str, Grant | None] = {
            pools.get(job_id, job_id): Grant(granted, standby=order.get(job_id)) for job_id, granted in cores.items()
        }
        # Work that is over holds no cores; when there is more of it, it starts without a grant.
        grants |= dict.fromkeys(idle)
        # Alone in its cluster a driver may lend all its slots; beside others only what it was given.
        self.bridge.grant(grants, lease_s, total if self.config.endpoint else None)

    def _opened(self) -> None:
        with self._lock:
            names: list[str] = [*self._jobs, *self._other.pools().values()]
            for job in self._jobs.values():
                job.cores = None
        if self._alive():
            self.bridge.grant(dict.fromkeys(names), 1.0)

    def _cancelled(self, job_id: str) -> None:
        self._to_cancel.add(job_id)

    def _cores(self) -> float | None:
        return self._slots


def still_running(bridge: Bridge) -> list[dict[str, Any]]:
    """Take what the probe has seen so far; the events of fits that are still under way."""
    seen: list[dict[str, Any]] = []
    while events := bridge.poll().events:
        seen += events
    over = {event["job"] for event in seen if event["event"] == "end"}
    return [event for event in seen if event["job"] not in over]


def early_rule(config: Config) -> EarlyRule:
    """The application's early answer."""
    return EarlyRule(config.early_answer, config.early_share, config.early_patience, config.early_tolerance)

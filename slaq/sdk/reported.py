"""One training run that reports its own losses: what `slaq.report` writes to and the registry reads from."""

import math
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from slaq.driver.early import EarlyRule, estimated, verdict
from slaq.driver.notices import log, once
from slaq.driver.status import LOSSES_KEPT, PACE_OVER, JobStatus, progress
from slaq.driver.tracked import CUSTOM
from slaq.errors import SlaqError
from slaq.protocol.names import sendable
from slaq.records import LARGEST_COUNT, NO_WISH, Standing, Wish
from slaq.spark.records import Begin, End, FitEvent, Loss

UNREAD_KEPT = 4096
"""Reports of a job that nobody has read yet; of more the oldest are dropped."""

SILENT_S = 60.0
"""An inferred job that reports nothing for this long, and for ten of its iterations, is over."""


class Declared(Struct, frozen=True):
    """What a user declares of a job."""

    name: str
    inferred: bool = False
    """Nobody opened it: it was inferred from a report outside of any job."""
    weight: float = 1.0
    target_loss: float | None = None
    max_iterations: int | None = None
    group: str = ""
    wish: Wish = NO_WISH


class Host(Protocol):
    """Where reports go: a driver loop in this process, or a courier to the one beside the JVM."""

    @property
    def early(self) -> EarlyRule:
        """The application's early answer, for jobs without one of their own."""

    def alive(self) -> bool:
        """Whether its Spark context still runs."""

    def enter(self, job_id: str) -> Any:
        """Send this thread's Spark jobs to the job's pool; the result is for `leave`."""

    def leave(self, scope: Any) -> None:
        """Back to the pool before, in the same thread."""

    def abandon(self, job_id: str) -> None:
        """Close the pool of a job whose thread is gone."""

    def ended(self) -> None:
        """A job has ended: its last reports should not wait."""

    def statuses(self) -> list[JobStatus]:
        """All jobs of the application, also those that this process did not report."""

    def standing(self, job_id: str) -> Standing | None:
        """How far a job has come; None if no scheduler says."""

    def cancelled(self, job_id: str) -> bool:
        """Whether the job's user asked for its end."""

    def stopping(self, job_id: str) -> bool:
        """Whether the job is to end early, with the model it has."""

    def stop(self, job_id: str, why: str, after_iterations: int) -> str:
        """Have a fit end early; see `Bridge.stop`."""


class ReportedJob:
    """A job of one thread. `add` runs in the training thread and must stay cheap; everything else may take its time."""

    def __init__(self, job_id: str, declared: Declared, early: EarlyRule) -> None:
        self.id = job_id
        self.declared = declared
        self.name = sendable(declared.name)
        self.inferred = declared.inferred
        self.early = early
        self.thread = threading.current_thread()
        self.begun = time.monotonic()
        self.latest = self.begun
        self.losses: deque[float] = deque(maxlen=LOSSES_KEPT)
        self.iteration = -1
        self.metrics: dict[str, float] = {}
        self.error: str | None = None
        self.ended = False
        self.read_to_end = False
        """Whether its end was read."""
        self.host: Host | None = None
        self.scope: Any = None
        self.good_enough: str | None = None
        self.stop_after: int | None = None
        """Iterations after which it is to end; None: nobody in this process asked for it."""
        self.told_to_stop = False
        """Whether its loop was told to end early."""
        self.dropped = 0
        """Reports that were dropped before anybody read them."""
        self._judged = -1
        self._lengths_s: deque[float] = deque(maxlen=PACE_OVER)
        self._unread: deque[tuple[int, float, float]] = deque(maxlen=UNREAD_KEPT)
        self._announced = False

    def add(self, loss: float, iteration: int | None, metrics: Mapping[str, Any]) -> None:
        """Take one report; the loss is a float, lower being better."""
        number = self.iteration + 1 if iteration is None else int(iteration)
        if abs(number) > LARGEST_COUNT:
            raise SlaqError(f"iteration {number} is beyond {LARGEST_COUNT}; count from 0, or leave it out")
        if metrics:
            self.metrics = {name: float(value) for name, value in metrics.items()}
        now = time.monotonic()
        if self.losses:
            self._lengths_s.append(now - self.latest)
        self.iteration = number
        self.latest = now
        if math.isfinite(loss):
            self.losses.append(loss)
        else:
            once(
                f"diverged {self.id}",
                "job %s reported a loss of %s at iteration %d: it counts as diverged until the next finite loss",
                self.name,
                loss,
                number,
            )
        if len(self._unread) == UNREAD_KEPT:
            self.dropped += 1
        self._unread.append((number, loss, now))

    def judge(self) -> str | None:
        """Why the job is good enough, if it is; logged once. The curve is looked at once per iteration."""
        if self.early.action != "off" and self.good_enough is None and self.iteration != self._judged:
            self._judged = self.iteration
            target, most = self.declared.target_loss, self.declared.max_iterations
            self.good_enough = verdict(tuple(self.losses), self.early, target, most, self._known_standing())
            if self.good_enough is not None:
                log.warning(
                    "SLAQ: job %s is good enough at iteration %d: %s", self.name, self.iteration, self.good_enough
                )
        return self.good_enough

    def should_stop(self) -> bool:
        """Whether its loop should end now, with what it has."""
        early = self.judge() is not None and self.early.action == "stop"
        asked = self.stop_after is not None and self.iteration + 1 >= max(self.stop_after, 1)
        self.told_to_stop |= early or asked or (self.host is not None and self.host.stopping(self.id))
        return self.told_to_stop or (self.host is not None and self.host.cancelled(self.id))

    def over(self, now: float) -> bool:
        """Whether the job's thread is gone, or an inferred job has been silent for long."""
        if not self.thread.is_alive():
            return True
        pace = (self.latest - self.begun) / max(len(self.losses), 1)
        return self.inferred and now - self.latest > max(SILENT_S, 10.0 * pace)

    def announce_again(self) -> None:
        """Another reader follows the job from here on and has to be told how it began."""
        self._announced = False

    def read(self, numbers: "count[int]") -> Iterator[FitEvent]:
        """What happened since the last call, numbered."""
        if self.read_to_end:
            return
        if not self._announced:
            self._announced = True
            yield Begin(
                next(numbers),
                self.id,
                estimator=CUSTOM,
                name=self.name,
                max_iterations=self.declared.max_iterations,
                weight=self.declared.weight,
                target_loss=self.declared.target_loss,
                group=self.declared.group,
                wish=self.declared.wish,
            )
        ended = self.ended  # before the reports: one made before the end is never left behind
        while self._unread:
            iteration, loss, at = self._unread.popleft()
            yield Loss(next(numbers), self.id, iteration, loss if math.isfinite(loss) else None, nanos=self._nanos(at))
        if ended:
            self.read_to_end = True
            stopped = self.told_to_stop and self.error is None
            yield End(next(numbers), self.id, self.error is None, self.error, self._nanos(self.latest), stopped)

    def status(self) -> JobStatus:
        """The job as its own process sees it, without what the scheduler knows."""
        losses = tuple(self.losses)
        status = JobStatus(
            id=self.id,
            name=self.name,
            estimator=CUSTOM,
            state=self._state(),
            iteration=self.iteration if self.iteration >= 0 else None,
            loss=losses[-1] if losses else None,
            delta=losses[-2] - losses[-1] if len(losses) > 1 else None,
            weight=self.declared.weight,
            target_loss=self.declared.target_loss,
            group=self.declared.group,
            good_enough=self.good_enough,
            error=self.error,
            elapsed_s=(self.latest if self.ended else time.monotonic()) - self.begun,
            metrics=self.metrics,
            losses=losses,
        )
        if self.ended or not losses:
            return status
        standing = estimated(losses, self.declared.max_iterations, self.declared.target_loss)
        return replace(status, **progress(standing, tuple(self._lengths_s)))

    def _state(self) -> str:
        if not self.ended:
            return "running"
        return "failed" if self.error else "stopped" if self.told_to_stop else "ended"

    def _known_standing(self) -> Standing | None:
        return self.host.standing(self.id) if self.host is not None else None

    def _nanos(self, at: float) -> int:
        return int((at - self.begun) * 1e9)

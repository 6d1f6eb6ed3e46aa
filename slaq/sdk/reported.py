"""One training run that reports its own losses: what `slaq.report` writes to and the driver loop reads from."""

import threading
import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from slaq.driver.early import EarlyRule, verdict
from slaq.driver.notices import log, once
from slaq.driver.status import LOSSES_KEPT, JobStatus
from slaq.errors import SlaqError
from slaq.protocol.beat import LARGEST_COUNT
from slaq.protocol.names import sendable

UNSENT_KEPT = 4096
"""Reports waiting for the loop; without a loop the oldest go."""

SILENT_S = 60.0
"""An inferred job that reports nothing for this long, and for ten of its iterations, is over."""


class ReportedJob:
    """A job of one thread. `add` runs in the training thread and must stay cheap; everything else may take its time."""

    def __init__(
        self,
        job_id: str,
        name: str,
        inferred: bool,
        weight: float,
        target_loss: float | None,
        max_iterations: int | None,
        early: EarlyRule,
    ) -> None:
        self.id = job_id
        self.name = sendable(name)
        self.inferred = inferred
        self.weight = weight
        self.target_loss = target_loss
        self.max_iterations = max_iterations
        self.early = early
        self.thread = threading.current_thread()
        self.begun = time.monotonic()
        self.latest = self.begun
        self.losses: deque[float] = deque(maxlen=LOSSES_KEPT)
        self.iteration = -1
        self.metrics: dict[str, float] = {}
        self.error: str | None = None
        self.ended = False
        self.taken = False
        """Whether somebody was told of the end."""
        self.host: Any = None
        self.scope: Any = None
        self.good_enough: str | None = None
        self._judged = -1
        self._unsent: deque[tuple[int, float, float]] = deque(maxlen=UNSENT_KEPT)
        self._announced = False

    def add(self, loss: float, iteration: int | None, metrics: Mapping[str, Any]) -> None:
        """Take one report; the loss is a float, lower being better."""
        number = self.iteration + 1 if iteration is None else int(iteration)
        if abs(number) > LARGEST_COUNT:
            raise SlaqError(f"iteration {number} is beyond {LARGEST_COUNT}; count from 0, or leave it out")
        if metrics:
            self.metrics = {name: float(value) for name, value in metrics.items()}
        now = time.monotonic()
        self.iteration = number
        self.latest = now
        if loss - loss == 0.0:  # false for NaN and the infinities, which the scheduler hears of but no curve holds
            self.losses.append(loss)
        else:
            once(
                f"no number {self.id}",
                "job %s reported a loss of %s at iteration %d: it counts as diverged until the next finite loss",
                self.name,
                loss,
                number,
            )
        self._unsent.append((number, loss, now))

    def judge(self) -> str | None:
        """Why the job is good enough, if it is; said once. Looks at the curve only when there is something new."""
        if self.early.action != "off" and self.good_enough is None and self.iteration != self._judged:
            self._judged = self.iteration
            self.good_enough = verdict(tuple(self.losses), self.early, self.target_loss)
            if self.good_enough is not None:
                log.warning(
                    "SLAQ: job %s is good enough at iteration %d: %s", self.name, self.iteration, self.good_enough
                )
        return self.good_enough

    def over(self, now: float) -> bool:
        """Whether an inferred job has come to its end: its thread is gone, or it has long been silent."""
        if not self.thread.is_alive():
            return True
        pace = (self.latest - self.begun) / max(len(self.losses), 1)
        return self.inferred and now - self.latest > max(SILENT_S, 10.0 * pace)

    def take(self) -> list[dict[str, Any]]:
        """What happened since the last call, in the shape of the probe's events."""
        events: list[dict[str, Any]] = []
        if not self._announced:
            self._announced = True
            events.append(
                {
                    "event": "begin",
                    "job": self.id,
                    "estimator": "custom",
                    "name": self.name,
                    "weight": self.weight,
                    "target_loss": self.target_loss,
                    "params": {} if self.max_iterations is None else {"maxIter": self.max_iterations},
                }
            )
        ended = self.ended  # read first: a report made before the end is never left behind
        while self._unsent:
            number, loss, at = self._unsent.popleft()
            events.append(
                {"event": "loss", "job": self.id, "iteration": number, "value": loss, "nanos": self._nanos(at)}
            )
        if ended:
            self.taken = True
            events.append(
                {"event": "end", "job": self.id, "ok": self.error is None, "error": self.error}
                | {"nanos": self._nanos(self.latest)}
            )
        return events

    def status(self) -> JobStatus:
        """The job as its own process sees it, without what the scheduler knows."""
        losses = tuple(self.losses)
        return JobStatus(
            id=self.id,
            name=self.name,
            estimator="custom",
            state="running" if not self.ended else "failed" if self.error else "ended",
            iteration=self.iteration if self.iteration >= 0 else None,
            loss=losses[-1] if losses else None,
            delta=losses[-2] - losses[-1] if len(losses) > 1 else None,
            weight=self.weight,
            target_loss=self.target_loss,
            good_enough=self.good_enough,
            error=self.error,
            elapsed_s=(self.latest if self.ended else time.monotonic()) - self.begun,
            metrics=self.metrics,
            losses=losses,
        )

    def _nanos(self, at: float) -> int:
        return int((at - self.begun) * 1e9)

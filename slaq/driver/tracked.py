"""A job as the driver loop follows it: what began it, its curve, and what each iteration cost."""

from collections import deque
from typing import Any

from slaq.driver.early import EarlyRule, verdict
from slaq.driver.status import LOSSES_KEPT, JobStatus
from slaq.driver.target import seconds_to_95
from slaq.protocol import Declaration, Outcome
from slaq.spark.records import JobUsage

_NOTHING_USED = JobUsage("")


class TrackedJob:
    """One fit seen by the probe, or one job reported by the user's own loop."""

    def __init__(self, begin: dict[str, Any], began_at: float) -> None:
        self.id: str = begin["job"]
        self.estimator: str = begin.get("estimator") or "unknown"
        self._convergence: str = begin.get("convergence", "none")
        self.params: dict[str, Any] = begin.get("params") or {}
        self.parent: str | None = begin.get("parent")
        self.name: str = begin.get("name") or begin.get("uid") or self.estimator
        self.outer: str | None = begin.get("outer")
        self.weight: float | None = begin.get("weight")
        self.target_loss: float | None = begin.get("target_loss")
        self.began_at = began_at
        self.losses: deque[float] = deque(maxlen=LOSSES_KEPT)
        self.iterations = 0
        self.iteration: int | None = None
        self.elapsed_s = 0.0
        self.outcome: Outcome | None = None
        self.error: str | None = None
        self.cores: float | None = None
        self.good_enough: str | None = None
        self.announced: Declaration | None = None
        """What the scheduler was last told of it."""
        self.usage = _NOTHING_USED
        self._counted = _NOTHING_USED
        self.idle_s = 0.0
        self._active_s = -1e18
        self._tasks_seen = 0
        self._waiting: list[tuple[int, float | None, float]] = []
        self._loss_at_s = 0.0
        self._recent_s: deque[float] = deque(maxlen=8)

    @property
    def max_iterations(self) -> int | None:
        """After how many iterations the fit ends at the latest, if its estimator says so."""
        most = self.params.get("maxIter")
        return most if isinstance(most, int) and most >= 0 else None

    @property
    def iterative(self) -> bool:
        """Whether losses are to be expected: of an iterative estimator, or of a loop that says what it is after."""
        aims = self.estimator == "custom" and (self.target_loss is not None or self.max_iterations is not None)
        return self._convergence != "none" or aims

    @property
    def trains(self) -> bool:
        """Whether a loss was seen."""
        return self.iterations > 0

    def active(self, now_s: float) -> bool:
        """Whether it has tasks now; `idle_s` then tells for how long it has had none."""
        has_tasks = self.usage.running + self.usage.pending > 0
        if has_tasks or self.usage.tasks > self._tasks_seen:
            self._active_s = now_s
        self._tasks_seen = self.usage.tasks
        self.idle_s = now_s - self._active_s
        return has_tasks

    def loss(self, event: dict[str, Any]) -> None:
        """One iteration; its cost is known when the usage of this moment arrives."""
        at_s = event["nanos"] * 1e-9
        value = event["value"]
        self._waiting.append((event["iteration"], value, max(at_s - self._loss_at_s, 0.0)))
        self._recent_s.append(max(at_s - self._loss_at_s, 0.0))
        self._loss_at_s = self.elapsed_s = at_s
        self.iteration = event["iteration"]
        self.iterations += 1
        if value is not None and value - value == 0.0:
            self.losses.append(value)

    def end(self, event: dict[str, Any]) -> None:
        """The fit returned, or failed."""
        self.elapsed_s = max(event["nanos"] * 1e-9, self.elapsed_s)
        self.outcome = "finished" if event["ok"] else "failed"
        self.error = event.get("error")

    def costs(self) -> list[dict[str, Any]]:
        """The iterations since the last call as arguments of `Agent.report`.

        What the pool used since then is shared out by the iterations' lengths. The time that tasks held a slot counts
        as their CPU time: slots are what a job is granted, and of tasks that work in a Python worker Spark counts next
        to no CPU time. `cores` is what the job held while it had a stage to run, so that its driver's pauses show as
        time that no core shortens: others may fill them, but a job that is given all cores uses half of them. What the
        pool read meanwhile is not told as the size of an iteration: it says no more of the next one than the cost does.

        Spark's task events lag behind its scheduler, so an iteration whose tasks are not heard of yet has an unknown
        cost; the next one has more. What the first loss cost is not told: getting ready (statistics, bins, initial
        centres) can be most of it, and a job that seems slow is put behind others, where it reports nothing that could
        correct this.
        """
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return []
        used, before = self.usage, self._counted
        heard = used.tasks > before.tasks
        if heard:
            self._counted = used
        held_s = used.held_s - before.held_s
        whole_s = sum(wall_s for _, _, wall_s in waiting)
        busy_s = whole_s - (used.paused_s - before.paused_s)
        reports: list[dict[str, Any]] = []
        first = self.iterations == len(waiting)
        for place, (iteration, loss, wall_s) in enumerate(waiting):
            report: dict[str, Any] = {"loss": float("nan") if loss is None else loss, "iteration": iteration}
            reports.append(report)
            if first and not place:
                continue
            part = wall_s / whole_s if whole_s > 0.0 else 1.0 / len(waiting)
            report |= {
                "wall_s": wall_s,
                "cpu_s": held_s * part if heard else None,
                "cores": held_s / busy_s if heard and busy_s > 0.0 else None,
            }
        return reports

    def judge(self, rule: EarlyRule) -> str | None:
        """The early answer's reason when it is reached; once."""
        if self.good_enough is None:
            self.good_enough = verdict(tuple(self.losses), rule, self.target_loss)
            return self.good_enough
        return None

    def declaration(self, weight: float, reserved_cores: float, max_cores: float) -> Declaration:
        """What the scheduler is told; more cores than partitions are of no use."""
        partitions = float(self.usage.partitions) or float("inf")
        most = max(min(max_cores, partitions), 1.0)
        return Declaration(
            name=self.name[:200],
            estimator=self.estimator[:200],
            ml=self.trains or self.iterative,
            weight=min(max((self.weight or 1.0) * weight, 1e-6), 1e6),
            max_cores=None if most == float("inf") else most,
            reserved_cores=reserved_cores,
            target_loss=self.target_loss,
            max_iterations=self.max_iterations,
            began_at=self.began_at,
        )

    def status(self) -> JobStatus:
        """The job as `slaq.jobs()` shows it."""
        losses = tuple(self.losses)
        ended = self.outcome is not None
        return JobStatus(
            id=self.id,
            name=self.name,
            estimator=self.estimator,
            state="running" if not ended else "failed" if self.outcome == "failed" else "ended",
            iteration=self.iteration,
            loss=losses[-1] if losses else None,
            delta=losses[-2] - losses[-1] if len(losses) > 1 else None,
            cores=None if ended else self.cores,
            running_tasks=0 if ended else self.usage.running,
            seconds_to_95=None if ended else seconds_to_95(losses, tuple(self._recent_s)),
            weight=self.weight or 1.0,
            target_loss=self.target_loss,
            good_enough=self.good_enough,
            error=self.error,
            elapsed_s=self.elapsed_s,
            cpu_s=self.usage.cpu_s,
            losses=losses,
        )

"""A job as the driver loop follows it: how it began, its losses, and what each iteration cost."""

import math
from collections import deque

from msgspec.structs import replace

from slaq.driver.early import EarlyRule, estimated, verdict
from slaq.driver.stages import StagesUnderWay
from slaq.driver.status import LOSSES_KEPT, PACE_OVER, JobStatus, progress
from slaq.driver.traits import known_traits
from slaq.protocol import Declaration, Outcome, Report, Standing
from slaq.records import NO_TRAITS, NO_WISH, WEIGHTS, Wish
from slaq.spark.records import Begin, End, JobUsage, Loss

CUSTOM = "custom"
"""The estimator of a job that reports its own losses."""

_NOTHING_USED = JobUsage("")
_STATES = {"failed": "failed", "stopped": "stopped"}


class TrackedJob:
    """One fit seen by the probe, or one job reported by the user's own loop."""

    def __init__(self, begin: Begin, began_at: float, group: str = "") -> None:
        self.begin = begin
        self.id = begin.job
        self.estimator = begin.estimator
        self.name = self._plain_name = begin.name or begin.uid or begin.estimator
        self.weight = begin.weight
        self.target_loss = begin.target_loss
        self.wish = begin.wish
        self.group = self.siblings = group or begin.group
        """`siblings` are the fits that it is told apart from; the group may be that of a named job around it."""
        self.began_at = began_at
        self.losses: deque[float] = deque(maxlen=LOSSES_KEPT)
        self.iterations = 0
        self.iteration: int | None = None
        self.elapsed_s = 0.0
        self.outcome: Outcome | None = None
        self.error: str | None = None
        self.cores: float | None = None
        self.standing: Standing | None = None
        """How far it has come, as the scheduler last said; None: no scheduler says."""
        self.good_enough: str | None = None
        self.announced: Declaration | None = None
        """What the scheduler was last told of it."""
        self.reports: deque[Report] = deque()
        """What the agent has still to be told; the loop takes each away once the agent has it."""
        self.usage = _NOTHING_USED
        self._stages = StagesUnderWay()
        self._traits = NO_TRAITS
        self.idle_s = 0.0
        self._counted = _NOTHING_USED
        self._active_s = -1e18
        self._tasks_seen = 0
        self._unpriced: list[tuple[Loss, float]] = []
        self._loss_at_s = 0.0
        self._lengths_s: deque[float] = deque(maxlen=PACE_OVER)

    @property
    def max_iterations(self) -> int | None:
        """After how many iterations the job ends at the latest, if it is known."""
        most = self.begin.params.get("maxIter")
        if self.begin.max_iterations is None and type(most) is int and most >= 0:
            return most
        return self.begin.max_iterations

    @property
    def iterative(self) -> bool:
        """Whether losses are to be expected: from an iterative estimator, or a loop that declared what it is after."""
        aims = self.estimator == CUSTOM and (self.target_loss is not None or self.max_iterations is not None)
        return self.begin.convergence != "none" or aims

    @property
    def trains(self) -> bool:
        """Whether a loss was seen."""
        return self.iterations > 0

    def inherit(self, outer: "TrackedJob") -> None:
        """Take over what was declared of the named job around this fit."""
        self.name = self._plain_name = f"{outer.name}/{self.name}"
        self.weight = outer.weight or self.weight
        self.target_loss = outer.target_loss
        self.group = outer.group or self.group
        self.wish = outer.wish.after(max(self.began_at - outer.began_at, 0.0)).over(self.wish)

    def tell_apart(self, differing: str) -> None:
        """Name it by the parameters in which it differs from its siblings."""
        self.name = f"{self._plain_name} ({differing})" if differing else self._plain_name

    def active(self, now_s: float) -> bool:
        """Whether it has tasks now; `idle_s` then tells for how long it has had none."""
        has_tasks = self.usage.running + self.usage.pending > 0
        if has_tasks or self.usage.tasks > self._tasks_seen:
            self._active_s = now_s
        self._tasks_seen = self.usage.tasks
        self.idle_s = now_s - self._active_s
        return has_tasks

    def loss(self, event: Loss) -> None:
        """One iteration; `price` makes a report of it when the usage of this moment is known."""
        at_s = event.nanos * 1e-9
        length_s = max(at_s - self._loss_at_s, 0.0)
        self._unpriced.append((event, length_s))
        if self.iterations:  # getting ready for the first loss says nothing about the pace
            self._lengths_s.append(length_s)
        self._loss_at_s = self.elapsed_s = at_s
        self.iteration = event.iteration
        self.iterations += 1
        if event.value is not None and math.isfinite(event.value):
            self.losses.append(event.value)

    def end(self, event: End) -> None:
        """The fit returned, or failed."""
        self.elapsed_s = max(event.nanos * 1e-9, self.elapsed_s)
        self.outcome = "failed" if not event.ok else "stopped" if event.stopped else "finished"
        self.error = event.error

    def due_core_s(self) -> float | None:
        """Core-seconds that the tasks left in its stages under way will hold; None until a first task has ended."""
        return self._stages.due_core_s(self.usage)

    def price(self) -> None:
        """Turn the iterations since the last call into reports with their cost.

        The work of an iteration is the slot time of its tasks: slots are what is granted, and Spark counts next to no
        CPU time for tasks in a Python worker. Its serial part is the time in which the job had no stage to run. Both
        are differences between two polls, divided in proportion to the lengths of the iterations in between.

        The cost of the first loss is not told: getting ready (statistics, bins, initial centres) can be most of it, and
        a job that seems slow is put behind others, where it reports nothing that could correct this.
        """
        if not self._unpriced:
            return
        used, before = self.usage, self._counted
        known = used is not _NOTHING_USED
        self._counted = used
        work_core_s, serial_s = used.held_s - before.held_s, used.paused_s - before.paused_s
        whole_s = sum(length_s for _, length_s in self._unpriced)
        first = self.iterations == len(self._unpriced)
        for place, (event, length_s) in enumerate(self._unpriced):
            loss = event.value if event.value is not None and math.isfinite(event.value) else None
            if not known or (first and not place):
                self.reports.append(Report(loss, event.iteration))
                continue
            part = length_s / whole_s if whole_s > 0.0 else 1.0 / len(self._unpriced)
            self.reports.append(Report(loss, event.iteration, work_core_s * part, serial_s * part))
        self._unpriced = []

    def judge(self, rule: EarlyRule) -> str | None:
        """Why the job is good enough, the first time that the rule holds."""
        if self.good_enough is not None:
            return None
        losses = tuple(self.losses)
        self.good_enough = verdict(losses, rule, self.target_loss, self.max_iterations, self.standing)
        return self.good_enough

    def declaration(self, weight: float, reserved_cores: float, max_cores: float, wish: Wish = NO_WISH) -> Declaration:
        """What the scheduler is told; more cores than partitions are of no use. `wish` is that of the application."""
        partitions = float(self.usage.partitions) or math.inf
        most = max(min(max_cores, partitions), 1.0)
        if self.iterative or self.trains:
            self._traits = known_traits(self.begin.params, self.usage, self._traits)
        return Declaration(
            name=self.name[:200],
            estimator=self.estimator[:200],
            ml=self.trains or self.iterative,
            weight=min(max((self.weight or 1.0) * weight, WEIGHTS[0]), WEIGHTS[1]),
            max_cores=None if most == math.inf else most,
            reserved_cores=reserved_cores,
            target_loss=self.target_loss,
            max_iterations=self.max_iterations,
            group=self.group[:200],
            began_at=self.began_at,
            unstoppable=(self.begin.unstoppable or "")[:200],
            traits=self._traits,
            user=self.begin.user[:200],
            wish=self.wish.over(wish),
        )

    def status(self) -> JobStatus:
        """The job as `slaq.jobs()` shows it."""
        losses = tuple(self.losses)
        ended = self.outcome is not None
        status = JobStatus(
            id=self.id,
            name=self.name,
            estimator=self.estimator,
            state=_STATES.get(self.outcome or "", "ended") if ended else "running",
            iteration=self.iteration,
            loss=losses[-1] if losses else None,
            delta=losses[-2] - losses[-1] if len(losses) > 1 else None,
            cores=None if ended else self.cores,
            running_tasks=0 if ended else self.usage.running,
            weight=self.weight or 1.0,
            target_loss=self.target_loss,
            group=self.group,
            good_enough=self.good_enough,
            error=self.error,
            elapsed_s=self.elapsed_s,
            cpu_s=self.usage.cpu_s,
            losses=losses,
        )
        if ended or not losses:
            return status
        standing = self.standing or estimated(losses, self.max_iterations, self.target_loss)
        return replace(status, **progress(standing, tuple(self._lengths_s)))

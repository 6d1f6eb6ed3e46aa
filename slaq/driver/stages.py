"""What the stages under way of one job still need, from the first of its tasks that ends."""

from slaq.spark.records import JobUsage

HALF_DONE = 0.5
"""Running tasks are halfway through on average."""


class StagesUnderWay:
    """Follows one job from poll to poll. Tasks of a stage are alike; those of a new stage are taken for those of the
    job's earlier ones until one of its own has ended."""

    def __init__(self) -> None:
        self._latest = self._before = JobUsage("")
        """The latest poll, and the last one before the newest stage."""

    def due_core_s(self, usage: JobUsage) -> float | None:
        """Core-seconds that the tasks which have not ended yet will still hold; None until a task has ended."""
        if usage.stages != self._latest.stages:
            self._before = self._latest
        self._latest = usage
        ended, run_s = usage.tasks - self._before.tasks, usage.run_s - self._before.run_s
        if ended <= 0:
            ended, run_s = usage.tasks, usage.run_s
        if ended <= 0:
            return None
        return max(run_s, 0.0) / ended * (usage.pending + HALF_DONE * usage.running)

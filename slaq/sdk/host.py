"""What every host does for the jobs of this process: move their threads in and out of pools."""

from contextlib import AbstractContextManager

from pyspark import SparkContext

from slaq.spark.bridge import Bridge


class PoolHost:
    """The Spark half of a `Host`; subclasses say where the reports go."""

    def __init__(self, context: SparkContext, bridge: Bridge) -> None:
        self._context, self._bridge = context, bridge

    def alive(self) -> bool:
        """See Host.alive."""
        return self._context._jsc is not None

    def enter(self, job_id: str) -> AbstractContextManager[None]:
        """See Host.enter."""
        scope = self._bridge.job(job_id)
        scope.__enter__()
        return scope

    def leave(self, scope: AbstractContextManager[None]) -> None:
        """See Host.leave."""
        if self.alive():
            scope.__exit__(None, None, None)

    def stop(self, job_id: str, why: str, after_iterations: int) -> str:
        """See Host.stop."""
        return self._bridge.stop(job_id, why, after_iterations)

    def abandon(self, job_id: str) -> None:
        """See Host.abandon."""
        if self.alive():
            self._bridge.close_pool(job_id)

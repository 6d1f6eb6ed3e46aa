"""The other work of an application: pools without a training run, scheduled as jobs without a loss (SLAQ §4.3)."""

from slaq.agent import Agent
from slaq.driver.notices import once
from slaq.protocol import Declaration
from slaq.spark.records import JobUsage, grantable

PAUSE_S = 0.25
"""A job without a task for this long leaves its cores to other drivers; most pauses between stages are shorter."""
OVER_S = 2.0
"""Other work that has had no task for this long is over."""


class OtherWork:
    """Which pools are at work besides the training runs, and under which job ids the scheduler knows them.

    Not thread-safe: the driver loop holds its lock around every call.
    """

    def __init__(self, app_name: str, weight: float, beside_others: bool) -> None:
        self._app_name = app_name
        self._weight = weight
        self._beside_others = beside_others
        self._count = 0
        self._busy: dict[str, tuple[str, float]] = {}
        """Pool → (job id, when it last had a task)."""
        self._idle: set[str] = set()
        """Pools whose work ended since they were last asked for."""

    def seen(self, agent: Agent, pools: list[JobUsage], now_s: float) -> None:
        """Announce pools that have work, end those that have had none for a while."""
        for usage in pools:
            if not grantable(usage.job):
                once("pool name", "pool %r runs unscheduled: its name is empty or has a tab or a line break", usage.job)
            elif usage.running + usage.pending > 0 and not usage.ended:
                known = self._busy.get(usage.job)
                self._idle.discard(usage.job)
                self._busy[usage.job] = (known[0] if known else self._begin(agent, usage), now_s)
        for pool, (job_id, at_s) in list(self._busy.items()):
            if now_s - at_s > OVER_S:
                agent.end(job_id)
                del self._busy[pool]
                self._idle.add(pool)
            elif self._beside_others:
                agent.idle(job_id, now_s - at_s > PAUSE_S)

    def pools(self) -> dict[str, str]:
        """Pool names by job id."""
        return {job_id: pool for pool, (job_id, _) in self._busy.items()}

    def take_idle(self) -> set[str]:
        """The pools whose work has ended since the last call."""
        idle, self._idle = self._idle, set()
        return idle

    def close(self, agent: Agent) -> None:
        """The application ends."""
        for job_id, _ in self._busy.values():
            agent.end(job_id)
        self._busy.clear()

    def _begin(self, agent: Agent, usage: JobUsage) -> str:
        self._count += 1
        job_id = f"other-{self._count}"
        whose = f", pool {usage.job}" if not usage.user else f", other work of {usage.user}"
        name = self._app_name if usage.job == "default" else self._app_name + whose
        declared = Declaration(
            name=name[:200], estimator="other work", ml=False, weight=self._weight, user=usage.user[:200]
        )
        agent.begin(job_id, declared)
        return job_id

"""The scheduler's answer about jobs as grants of their pools."""

from collections.abc import Collection, Mapping, Sequence

from slaq.spark.records import Grant

KEPT_BURST_S = 2.0
"""Seconds of unused grant that a job saves up which borrows nothing: its pauses would otherwise cost it a part of its
cores for good. As long as users are remembered in the JVM (`Tenants`)."""


def pool_grants(
    cores: Mapping[str, float], standby: Sequence[str], kept: Collection[str], pools: Mapping[str, str]
) -> dict[str, Grant | None]:
    """Grants by pool; `pools` names those that are not called as their job is.

    Jobs on standby take idle slots in this order, those in `kept` take none.
    """
    order = {job_id: place for place, job_id in enumerate(standby)}
    return {
        pools.get(job_id, job_id): (
            Grant(granted, burst_s=KEPT_BURST_S, borrows=False)
            if job_id in kept
            else Grant(granted, standby=order.get(job_id))
        )
        for job_id, granted in cores.items()
    }

"""Admission, job by job (OASiS, Algorithm 1), and the bounds of prices."""

from collections.abc import Sequence

import numpy as np

from slaq.model import FloatArray
from slaq.oasis.best import best_plan
from slaq.oasis.pool import Bounds, Pool
from slaq.oasis.request import Plan, Request

LEAST_VALUE = 1e-3
"""Part of a job's highest value that its value at the horizon counts at least. That of a time-critical job there is
1e-600 and would take all prices to 0; the paper is silent about it."""


class Market:
    """Workers and parameter servers over time, and the plans that were promised."""

    def __init__(self, workers: Pool, servers: Pool | None = None) -> None:
        self.workers = workers
        self.servers = servers

    def arrive(self, request: Request, least_value: float = 0.0) -> Plan | None:
        """Admit the job, whose plan is promised from now on, or refuse it with None.

        A plan that leaves less than `least_value` is refused as well.
        """
        plan = best_plan(self.workers, self.servers, request)
        if plan is None or plan.value < least_value:
            return None
        self.promise(plan, request)
        return plan

    def promise(self, plan: Plan, request: Request) -> None:
        """Take what the plan uses; prices rise."""
        self.workers.add(plan.workers, request.demand)
        if self.servers is not None and request.side is not None:
            self.servers.add(plan.side, request.side.demand)


def bounds_of(
    requests: Sequence[Request],
    capacity: FloatArray,
    slots: int,
    side: bool = False,
    least_value: float = LEAST_VALUE,
) -> Bounds:
    """U and L of one pool from all jobs that are to come; `side` takes their parameter servers' demands.

    With one pool L may be twice as high as with two for the same guarantee: the halves of both add up.
    """
    jobs = [request for request in requests if not side or request.side is not None]
    pools = 2 if any(request.side is not None for request in requests) else 1
    demands = np.array([request.side.demand if side and request.side else request.demand for request in jobs])
    work = np.array([request.work for request in jobs], dtype=float)
    best = np.array([request.value[min(request.shortest - 1, len(request.value) - 1)] for request in jobs])
    last = np.array([max(request.value[-1], least_value * request.value[0]) for request in jobs])
    return bounds_between(work, demands, best, last, capacity, slots, pools)


def bounds_between(
    work: FloatArray, demands: FloatArray, best: FloatArray, last: FloatArray, capacity: FloatArray, slots: int,
    pools: int = 1,
) -> Bounds:  # fmt: skip
    """U and L from every job's worker-slots, demands, value at its shortest length and value at the horizon."""
    volume = work * demands.sum(axis=1)
    with np.errstate(divide="ignore"):
        worths = np.where(demands > 0.0, best[:, None] / demands, 0.0)
    spread = float(volume.min()) / (slots * float(capacity.sum()))
    low = spread / (2.0 * pools) * float((last / volume).min())
    return Bounds(low, np.maximum(worths.max(axis=0), low))


def value_density(requests: Sequence[Request], quantile: float, side: bool = False) -> float:
    """What jobs are worth at their shortest length per unit of all that they take, at this quantile.

    As L it refuses that part of the jobs even in an empty cluster: those of least value for what they take.
    """
    found = [
        float(request.value[min(request.shortest - 1, len(request.value) - 1)]) / (request.work * float(demand.sum()))
        for request in requests
        if (demand := (request.side.demand if request.side else None) if side else request.demand) is not None
    ]
    return float(np.quantile(found, quantile))

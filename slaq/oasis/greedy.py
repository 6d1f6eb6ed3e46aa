"""The best plan without parameter servers: exact, and greedy.

A plan takes W worker-slots, at most N in a slot and at most what fits on a server. These limits are nested, so the
cheapest units that keep them are the cheapest plan. Ends are tried from the earliest on: each further slot offers its
cheapest units, and the dearest of those kept so far make way.
"""

import numpy as np

from slaq.model import FloatArray, IntArray
from slaq.oasis.pool import Pool
from slaq.oasis.request import Plan, Request


def cheapest(pool: Pool, request: Request) -> Plan | None:
    """The plan of the highest payoff, the earliest of equals; None if no plan has a positive one."""
    costs, counts, servers = _offers(pool, request)
    best, end = 0.0, -1
    kept_cost, kept_count = np.zeros(0), np.zeros(0, dtype=np.int64)
    for at in range(min(len(costs), len(request.value))):
        value = float(request.value[at])
        if value <= best:
            break  # values do not rise and costs are not negative
        offered = counts[at] > 0
        kept_cost, kept_count = _merged(kept_cost, kept_count, costs[at, offered], counts[at, offered], request.work)
        if kept_count.sum() < request.work:
            continue
        payoff = value - float(kept_cost @ kept_count)
        if payoff > best:
            best, end = payoff, at
    return None if end < 0 else _plan(request, end, costs, counts, servers)


def _offers(pool: Pool, request: Request) -> tuple[FloatArray, IntArray, IntArray]:
    """By slot: the N cheapest units as costs and counts by server, in rising order of cost, and the servers."""
    costs = pool.unit_costs(request.start, request.demand)
    room = pool.room(request.start, request.demand)
    servers = np.argsort(costs, axis=1, kind="stable")
    costs, room = np.take_along_axis(costs, servers, 1), np.take_along_axis(room, servers, 1)
    before = np.cumsum(room, axis=1) - room
    return costs, np.clip(request.width - before, 0, room), servers


def _merged(
    cost: FloatArray, count: IntArray, more_cost: FloatArray, more_count: IntArray, work: int
) -> tuple[FloatArray, IntArray]:
    """Both lists in rising order of cost, without what goes beyond `work` units."""
    cost, count = np.concatenate((cost, more_cost)), np.concatenate((count, more_count))
    order = np.argsort(cost, kind="stable")
    cost, count = cost[order], count[order]
    sums = np.cumsum(count)
    last = int(np.searchsorted(sums, work))
    if last < len(sums):
        cost, count = cost[: last + 1], count[: last + 1]
        count[last] -= sums[last] - work
    return cost, count


def _plan(request: Request, end: int, costs: FloatArray, counts: IntArray, servers: IntArray) -> Plan:
    """The cheapest units of the slots up to `end`; of equal cost the earlier ones."""
    slot = np.repeat(np.arange(end + 1), costs.shape[1])
    cost, count, server = costs[: end + 1].ravel(), counts[: end + 1].ravel(), servers[: end + 1].ravel()
    order = np.argsort(cost, kind="stable")
    before = np.cumsum(count[order]) - count[order]
    taken = np.zeros_like(count)
    taken[order] = np.clip(request.work - before, 0, count[order])
    used = np.flatnonzero(taken)
    rows = np.stack((slot[used] + request.start, server[used], taken[used]), axis=1)
    finish = int(rows[:, 0].max())
    return Plan(finish, float(request.value[finish - request.start]), float(cost[used] @ taken[used]), rows)

"""The best plan with parameter servers, by dynamic programming over slots (OASiS, Algorithm 2).

Parameter servers come in whole numbers, so the cost of a slot is not convex in its workers and greed is not exact. The
paper counts chunks, `DP(t, d)`; here the state counts worker-slots, which is the same without rounding up per slot.
More than `STATES` of them are taken in larger steps.
"""

import numpy as np

from slaq.model import FloatArray, IntArray
from slaq.oasis.pool import Pool
from slaq.oasis.request import Plan, Request, Side

STATES = 3000
"""Steps of work at most. The largest job of the paper's ranges (Reading B) takes 2,500 worker-slots."""


def dynamic(workers: Pool, servers: Pool, request: Request, side: Side) -> Plan | None:
    """The plan of the highest payoff, the earliest of equals; None if no plan has a positive one."""
    slots = min(workers.slots - request.start, len(request.value))
    if request.shortest > slots:
        return None
    step = -(-request.work // STATES)
    goal = -(-request.work // step)
    price = _Slots(workers, servers, request, side)
    least = np.full(goal + 1, np.inf)
    least[0] = 0.0
    chosen: list[IntArray] = []
    best, end = 0.0, -1
    for at in range(slots):
        value = float(request.value[at])
        if value <= best:
            break  # values do not rise and costs are not negative
        costs = price.by_count(at)[::step]
        least, choice = _with_slot(least, costs)
        chosen.append(choice)
        payoff = value - float(least[goal])
        if payoff > best:
            best, end = payoff, at
    if end < 0:
        return None
    return price.plan(_counts(chosen, end, goal) * step)


def _with_slot(least: FloatArray, costs: FloatArray) -> tuple[FloatArray, IntArray]:
    """The least costs with one more slot, whose workers cost `costs`, and how many of them that takes."""
    goal, most = len(least) - 1, len(costs) - 1
    # Row d holds least[d], least[d - 1], … least[d - most].
    padded = np.concatenate((np.full(most, np.inf), least))
    options = np.lib.stride_tricks.sliding_window_view(padded, most + 1)[:, ::-1] + costs
    choice = np.argmin(options, axis=1)
    found = options[np.arange(goal + 1), choice]
    return found, choice


def _counts(chosen: list[IntArray], end: int, goal: int) -> IntArray:
    """The steps of work in every slot up to `end`, followed back from the goal."""
    counts, left = np.zeros(end + 1, dtype=np.int64), goal
    for at in range(end, -1, -1):
        counts[at] = chosen[at][left]
        left -= counts[at]
    return counts


class _Slots:
    """What any number of workers costs in a slot, with their parameter servers, and where they go."""

    def __init__(self, workers: Pool, servers: Pool, request: Request, side: Side) -> None:
        self._request, self._side = request, side
        self._workers = _Units(workers, request.start, request.demand, request.width)
        self._servers = _Units(servers, request.start, side.demand, int(side.count(np.array([request.width]))[0]))

    def by_count(self, at: int) -> FloatArray:
        """The costs of 0, 1, 2 … workers in the slot; infinite where they do not fit."""
        workers, servers = self._workers.sums(at), self._servers.sums(at)
        needed = self._side.count(np.arange(len(workers)))
        return workers + servers[needed]

    def plan(self, counts: IntArray) -> Plan:
        """The plan with these numbers of workers by slot."""
        start, beside = self._request.start, self._side.count(counts)
        used = [int(at) for at in np.flatnonzero(counts)]
        cost = sum(float(self._workers.sums(at)[counts[at]] + self._servers.sums(at)[beside[at]]) for at in used)
        finish = used[-1]
        return Plan(
            finish + start,
            float(self._request.value[finish]),
            cost,
            np.concatenate([self._workers.rows(at, int(counts[at]), start) for at in used]),
            np.concatenate([self._servers.rows(at, int(beside[at]), start) for at in used]),
        )


class _Units:
    """The units of one demand that fit into each slot, cheapest first."""

    def __init__(self, pool: Pool, first: int, demand: FloatArray, most: int) -> None:
        costs, self._room = pool.unit_costs(first, demand), pool.room(first, demand)
        self._order = np.argsort(costs, axis=1, kind="stable")
        self._costs, self._most = costs, most

    def _filled(self, at: int, most: int) -> tuple[IntArray, IntArray]:
        order = self._order[at]
        room = self._room[at, order]
        return order, np.clip(most - (np.cumsum(room) - room), 0, room)

    def sums(self, at: int) -> FloatArray:
        """The cost of the cheapest 0, 1, … units; infinite beyond what fits."""
        order, count = self._filled(at, self._most)
        sums = np.full(self._most + 1, np.inf)
        units = np.cumsum(np.repeat(self._costs[at, order], count))
        sums[0] = 0.0
        sums[1 : len(units) + 1] = units
        return sums

    def rows(self, at: int, units: int, start: int) -> IntArray:
        """Where so many go: rows of slot, server, count."""
        order, count = self._filled(at, units)
        used = count > 0
        return np.stack((np.full(used.sum(), at + start), order[used], count[used]), axis=1)

"""Random instances, and the best plan by trying all of them."""

from itertools import product

import numpy as np
from hypothesis import strategies as st

from slaq.oasis import Market, Pool, Request, Side, Utility, bounds_of


def request(rng, slots, resources=2, *, sided=False, small=False, start=None):
    start = int(rng.integers(0, slots)) if start is None else start
    utility = Utility(rng.uniform(1, 100), rng.choice([0.0, 0.3, 5.0]), rng.uniform(0.5, slots))
    demand = rng.uniform(0.05, 0.5, resources) * (0.02 if small else 1.0)
    if rng.random() < 0.3:
        demand[-1] = 0.0
    side = Side(rng.uniform(0.05, 0.5, resources), float(rng.uniform(0.05, 1.0))) if sided else None
    value = utility.at(np.arange(slots - start, dtype=float))
    return Request(int(rng.integers(1, 7)), int(rng.integers(1, 4)), demand, value, start, side)


@st.composite
def instances(draw, *, sided=False, small=False, most_jobs=10, most_slots=8, most_servers=4):
    """A market with exact bounds, and the requests in order of arrival."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    slots, servers = draw(st.integers(2, most_slots)), draw(st.integers(1, most_servers))
    count = draw(st.integers(1, most_jobs))
    jobs = sorted((request(rng, slots, sided=sided, small=small) for _ in range(count)), key=lambda job: job.start)
    return market_for(jobs, rng.uniform(0.5, 1.5, (servers, 2)), slots, sided), jobs


def market_for(jobs, capacity, slots, sided=False):
    beside = Pool(capacity, slots, bounds_of(jobs, capacity, slots, side=True)) if sided else None
    return Market(Pool(capacity, slots, bounds_of(jobs, capacity, slots)), beside)


def best_payoff(market, job):
    """By trying every number of workers in every slot, and every way to spread them over servers."""
    slots = market.workers.slots - job.start
    cost = [_slot_costs(market, job, at) for at in range(slots)]
    best = 0.0
    for counts in product(range(job.width + 1), repeat=slots):
        if sum(counts) != job.work:
            continue
        last = max(at for at, count in enumerate(counts) if count)
        best = max(best, job.value[last] - sum(cost[at][count] for at, count in enumerate(counts)))
    return best


def _slot_costs(market, job, at):
    workers = _spread(market.workers, job.demand, job.start, at, job.width)
    if job.side is None:
        return workers
    beside = _spread(market.servers, job.side.demand, job.start, at, job.width)
    need = job.side.count(np.arange(job.width + 1))
    return [workers[count] + beside[need[count]] for count in range(job.width + 1)]


def _spread(pool, demand, start, at, most):
    costs, room = pool.unit_costs(start, demand)[at], pool.room(start, demand)[at]
    found = [float("inf")] * (most + 1)
    for counts in product(*(range(min(int(free), most) + 1) for free in room)):
        if sum(counts) <= most:
            found[sum(counts)] = min(found[sum(counts)], float(costs @ np.array(counts)))
    return found

"""The schedulers that OASiS is compared with, as far as its paper defines them.

All are asked at arrivals and completions, admit every job (RRH excepted) and place workers round-robin over the
servers. What the paper leaves open is decided here in the simplest way: Dorm's integer programme is replaced by a
greedy choice that keeps the same limits.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from slaq.model import FloatArray, IntArray
from slaq.sim.oasis_setting import Drawn


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a job runs: workers and parameter servers by server."""

    workers: IntArray
    servers: IntArray
    count: int


class Cluster:
    """What is free now, and where the running jobs are."""

    def __init__(self, drawn: Drawn) -> None:
        self.drawn = drawn
        self.free = [drawn.workers.copy(), drawn.servers.copy()]
        self.held: dict[int, Placed] = {}
        self.left = np.array([float(request.work) for request in drawn.requests])

    def place(self, job: int, most: int) -> int:
        """Run the job, which must not run yet, with as many workers as fit, at most so many; how many those are."""
        request = self.drawn.requests[job]
        side = request.side
        assert side is not None
        room, beside = _room(self.free[0], request.demand), _room(self.free[1], side.demand)
        count = min(most, request.width, int(room.sum()))
        while count and int(side.count(np.array([count]))[0]) > beside.sum():
            count = min(count - 1, int(beside.sum() / side.each))
        if count:
            placed = Placed(
                _round_robin(room, count), _round_robin(beside, int(side.count(np.array([count]))[0])), count
            )
            self._take(request.demand, side.demand, placed, 1)
            self.held[job] = placed
        return count

    def remove(self, job: int) -> int:
        """Take the job off its servers; with how many workers it ran."""
        placed = self.held.pop(job, None)
        if placed is None:
            return 0
        request = self.drawn.requests[job]
        assert request.side is not None
        self._take(request.demand, request.side.demand, placed, -1)
        return placed.count

    def _take(self, demand: FloatArray, beside: FloatArray, placed: Placed, sign: int) -> None:
        self.free[0] -= sign * placed.workers[:, None] * demand
        self.free[1] -= sign * placed.servers[:, None] * beside


def _room(free: FloatArray, demand: FloatArray) -> IntArray:
    needed = demand > 0.0
    room: IntArray = np.maximum(np.floor((free[:, needed] / demand[needed]).min(axis=1) + 1e-9), 0.0).astype(np.int64)
    return room


def _round_robin(room: IntArray, count: int) -> IntArray:
    """One each over the servers with room, again and again."""
    level = 0
    while np.minimum(room, level + 1).sum() <= count and level < count:
        level += 1
    placed = np.minimum(room, level)
    more = np.flatnonzero(room > level)[: count - int(placed.sum())]
    placed[more] += 1
    return placed


Scheme = Callable[[Cluster, int, list[int], list[int]], list[int]]
"""scheme(cluster, slot, unfinished jobs, those among them that have just arrived): changes what runs; the jobs that it
refuses for ever."""


def fifo(cluster: Cluster, _: int, jobs: list[int], __: list[int]) -> list[int]:
    """Fixed numbers of workers, strictly in order of arrival."""
    for job in jobs:
        if job in cluster.held:
            continue
        # Not even an empty cluster may have room for all of its workers: then it runs with those that fit.
        short = cluster.place(job, cluster.drawn.fixed[job]) < cluster.drawn.fixed[job]
        if short and len(cluster.held) > (job in cluster.held):
            cluster.remove(job)
            break  # those behind it wait as well
    return []


def drf(cluster: Cluster, _: int, jobs: list[int], __: list[int]) -> list[int]:
    """Max-min fair dominant shares: everything is shared out anew."""
    for job in jobs:
        cluster.remove(job)
    counts = fair_counts(cluster, jobs)
    order = sorted(range(len(jobs)), key=lambda at: -counts[at])
    for at in order:
        if counts[at]:
            cluster.place(jobs[at], int(counts[at]))
    _fill(cluster, [job for job in jobs if job not in cluster.held], 1)
    return []


def dorm(cluster: Cluster, _: int, jobs: list[int], __: list[int]) -> list[int]:
    """As much of the cluster in use as can be, near fair shares, changing few of the running jobs."""
    setting = cluster.drawn.setting
    fair = dict(zip(jobs, fair_counts(cluster, jobs), strict=True))
    running = [job for job in jobs if job in cluster.held]
    waiting = [job for job in jobs if job not in cluster.held]
    changes = int(np.ceil(setting.adjusted * len(running)))
    # Whoever has most above its fair share gives the rest of it back.
    above = sorted(running, key=lambda job: fair[job] / cluster.held[job].count)
    shrunk = [job for job in above if cluster.held[job].count * (1.0 - setting.fairness_loss) > max(fair[job], 1)]
    changed = shrunk[:changes] if waiting else []
    for job in changed:
        cluster.remove(job)
        cluster.place(job, max(int(fair[job]), 1))
    for job in waiting:
        cluster.place(job, max(int(fair[job]), 1))
    started = [job for job in waiting if job in cluster.held]
    growing = [job for job in reversed(above) if job not in changed][: changes - len(changed)]
    for job in (*started, *growing):
        cluster.place(job, cluster.remove(job) and cluster.drawn.requests[job].width)
    return []


def rrh(cluster: Cluster, slot: int, jobs: list[int], arrived: list[int]) -> list[int]:
    """Risk and reward: a job is worth its value at its projected end less what its running costs the others."""
    drawn = cluster.drawn
    slots_left = {job: int(np.ceil(cluster.left[job] / drawn.fixed[job])) for job in jobs}

    def value(job: int, ahead: int) -> float:
        request = drawn.requests[job]
        at = slot + ahead - request.start
        return float(request.value[at]) if at < len(request.value) else 0.0

    decay = {job: value(job, slots_left[job] - 1) - value(job, slots_left[job]) for job in jobs}
    whole = sum(decay.values())

    def reward(job: int) -> float:
        return value(job, slots_left[job] - 1) - (whole - decay[job]) * slots_left[job]

    refused = [job for job in arrived if reward(job) <= drawn.setting.rrh_threshold]
    for job in jobs:
        cluster.remove(job)
    for job in sorted((job for job in jobs if job not in refused), key=lambda job: -reward(job)):
        if cluster.place(job, drawn.fixed[job]) < drawn.fixed[job] and len(cluster.held) > 1:
            cluster.remove(job)
    return refused


def fair_counts(cluster: Cluster, jobs: list[int]) -> IntArray:
    """Workers by job at equal dominant shares of the whole cluster, as far as they can be used."""
    requests = [cluster.drawn.requests[job] for job in jobs]
    if not jobs:
        return np.zeros(0, dtype=np.int64)
    totals = (cluster.drawn.workers.sum(axis=0), cluster.drawn.servers.sum(axis=0))
    each = np.array(
        [np.concatenate((r.demand / totals[0], r.side.each * r.side.demand / totals[1])) for r in requests if r.side]
    )
    dominant = each.max(axis=1)
    cap = np.minimum([r.width for r in requests], np.ceil(cluster.left[jobs]))
    low, high = 0.0, float((cap * dominant).max()) + 1.0
    for _ in range(40):
        level = (low + high) / 2.0
        counts = np.minimum(np.floor(level / dominant), cap)
        low, high = (level, high) if (counts @ each <= 1.0).all() else (low, level)
    found: IntArray = np.minimum(np.floor(low / dominant), cap).astype(np.int64)
    return found


def _fill(cluster: Cluster, jobs: list[int], each: int) -> None:
    for job in jobs:
        cluster.place(job, each)


SCHEMES: dict[str, Scheme] = {"fifo": fifo, "drf": drf, "rrh": rrh, "dorm": dorm}


def run(drawn: Drawn, scheme: Scheme) -> IntArray:
    """The slot in which every job ended; -1 if it did not end within the horizon."""
    cluster, ended = Cluster(drawn), np.full(len(drawn.requests), -1)
    starts = np.array([request.start for request in drawn.requests])
    unfinished: list[int] = []
    changed = False
    for slot in range(drawn.setting.slots):
        arrived = np.flatnonzero(starts == slot).tolist()
        unfinished += arrived
        if arrived or changed:
            refused = set(scheme(cluster, slot, unfinished, arrived))
            unfinished = [job for job in unfinished if job not in refused]
        done = []
        for job, placed in cluster.held.items():
            cluster.left[job] -= placed.count
            if cluster.left[job] <= 0.0:
                ended[job] = slot
                done.append(job)
        for job in done:
            cluster.remove(job)
        unfinished = [job for job in unfinished if ended[job] < 0]
        changed = bool(done)
    return ended

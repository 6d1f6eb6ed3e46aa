"""oasis: jobs with a deadline or another utility get cores by plans over time, at prices (Bao et al., INFOCOM 2018).

Time is cut into slots. A job that declares what its end is worth is admitted if the best plan for the work it has left
is worth more than the cores it takes cost, and an admission is never withdrawn: where a plan no longer matches the work
that is left, the job is planned anew and what it does not need returns. Planned cores come before anything but what is
due to everyone. What no plan takes goes to jobs that declare nothing, as `finish-line` hands it out, then to admitted
jobs, the earliest end first; a job that is not admitted asks again in every slot and runs at its floor meanwhile.
"""

from heapq import heappop, heappush

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from slaq.model import Decision, FloatArray, IntArray, Snapshot
from slaq.oasis import Bounds, Plan, Pool, Request, Utility, best_plan, bounds_between
from slaq.oasis.market import LEAST_VALUE
from slaq.policy import finish_line
from slaq.policy.base import Dues, Rest, decide, next_cores

NO_VALUE = (1.0, 0.0, 0.0)
LEAST_PRICED = 1e-9
"""Part of a job's worth that counts as its value at the horizon at least: one long past its target has none left."""


class Promise(Struct, frozen=True, gc=False):
    """What an admitted job has been promised."""

    first: int
    """The slot of the first number."""
    cores: tuple[int, ...]
    value: float
    price: float

    def from_slot(self, slot: int) -> tuple[int, ...]:
        """What is promised from this slot on."""
        return self.cores[max(slot - self.first, 0) :]


class Quote(Struct, frozen=True, gc=False):
    """Why a job was not admitted: what its best end was worth, and what it would have cost."""

    slot: int
    value: float = 0.0
    price: float = 0.0


class Memory(Struct, frozen=True):
    """Promises and refusals by job."""

    promises: dict[str, Promise] = {}
    refused: dict[str, Quote] = {}


def allocate(snapshot: Snapshot, memory: Memory) -> tuple[Decision, Memory]:
    """The decision of this moment, and the plans as they are now."""
    planning = _Planning(snapshot, memory)

    def hand_out(_: Snapshot, dues: Dues) -> Rest:
        planning.plan(dues)
        return planning.rest(dues)

    decision = decide("oasis", snapshot, hand_out)
    return planning.explained(decision), Memory(planning.promises, planning.refused)


class _Planning:
    """One decision's plans."""

    def __init__(self, snapshot: Snapshot, memory: Memory) -> None:
        self._snapshot = snapshot
        self._slot_s = snapshot.tuning.plan_slot_s
        self._slots = max(int(snapshot.tuning.plan_slots), 1)
        self._slot = int(snapshot.now_s // self._slot_s)
        self._declared = [at for at, job in enumerate(snapshot.jobs) if job.ml and job.utility is not None]
        alive = {snapshot.jobs[at].id for at in self._declared}
        self.promises = {key: promise for key, promise in memory.promises.items() if key in alive}
        self.refused = {key: quote for key, quote in memory.refused.items() if key in alive}

    def plan(self, dues: Dues) -> None:
        """Admit, and plan anew whoever's plan is off."""
        jobs, slots = self._snapshot.jobs, self._slots
        capacity = int(dues.budget + float(dues.cores[self._declared].sum()) + 1e-6)
        if not self._declared or capacity < 1:
            return
        room = np.array([[float(capacity)]])
        asked = _Asked(self._snapshot, self._declared, dues, capacity, self._slot)
        pool = Pool(room, slots, asked.bounds(room))
        pool.add(_rows(self._promised()), np.ones(1))
        left = self._snapshot.tuning.plans_at_once
        for row, at in enumerate(self._declared):
            key = jobs[at].id
            promise, quote = self.promises.get(key), self.refused.get(key)
            if left <= 0:
                break  # the others keep what they have until the next decision
            if promise is not None and self._off(promise, int(asked.work[row])):
                pool.add(_rows(promise.from_slot(self._slot)[:slots]) * np.array([1, 1, -1]), np.ones(1))
                request = asked.request(row)
                self._promise(key, pool, request, _anyhow(pool, request))
                left -= 1
            elif promise is None and (quote is None or quote.slot < self._slot):
                self._ask(key, pool, asked.request(row))
                left -= 1

    def _promised(self) -> tuple[int, ...]:
        """The cores that all plans together name, by slot from now on."""
        total = np.zeros(self._slots, dtype=np.int64)
        for promise in self.promises.values():
            ahead = promise.from_slot(self._slot)[: self._slots]
            total[: len(ahead)] += np.array(ahead, dtype=np.int64)
        return tuple(total.tolist())

    def _off(self, promise: Promise, work: int) -> bool:
        """Whether a plan no longer matches the work, by more than a core for a slot and a part of the work."""
        ahead = sum(promise.from_slot(self._slot))
        return abs(ahead - work) > max(self._snapshot.tuning.plan_slack * work, 1.0) or not ahead

    def _ask(self, key: str, pool: Pool, request: Request) -> None:
        plan = best_plan(pool, None, request)
        if plan is not None:
            self.refused.pop(key, None)
            self._promise(key, pool, request, plan)
            return
        # With this much on top of its value every plan pays: the best of them is what it was refused for.
        assert pool.bounds is not None
        enough = float(pool.bounds.high.max()) * request.work
        best = best_plan(pool, None, _worth_more(request, enough))
        self.refused[key] = Quote(self._slot, *(() if best is None else (best.value - enough, best.cost)))

    def _promise(self, key: str, pool: Pool, request: Request, plan: Plan | None) -> None:
        """Note a plan. Without one the job is behind all plans: it has every core it can use in what is left."""
        if plan is None:
            slots = min(request.shortest, pool.slots)
            self.promises[key] = Promise(self._slot, (request.width,) * slots, 0.0, 0.0)
            return
        pool.add(plan.workers, request.demand)
        cores = np.bincount(plan.workers[:, 0], weights=plan.workers[:, 2]).astype(int).tolist()
        self.promises[key] = Promise(self._slot, tuple(cores), plan.value, plan.cost)

    def rest(self, dues: Dues) -> Rest:
        """Cores on top of what is due: those that plans name, then the rest."""
        jobs = self._snapshot.jobs
        admitted = [at for at in self._declared if jobs[at].id in self.promises]
        admitted.sort(key=lambda at: len(self.promises[jobs[at].id].from_slot(self._slot)))
        extra, left = np.zeros(len(jobs)), dues.budget
        for at in admitted:
            planned = (self.promises[jobs[at].id].from_slot(self._slot) or (0,))[0]
            extra[at] = min(max(min(planned, dues.cap[at]) - dues.cores[at], 0.0), left)
            left -= extra[at]
        others = np.setdiff1d(dues.training, self._declared)
        found = Rest("milestone", np.zeros(len(jobs)), np.zeros(len(jobs)), 0.0)
        if len(others):
            found = next_cores("milestone", dues, others, left, finish_line.worth(self._snapshot))
            extra += found.extra
            left -= float(found.extra.sum())
        for at in admitted:
            more = min(max(float(dues.cap[at] - dues.cores[at] - extra[at]), 0.0), max(left, 0.0))
            extra[at] += more
            left -= more
        return Rest(found.rule, extra, found.next_gain, found.cutoff)

    def explained(self, decision: Decision) -> Decision:
        """With the reasons of jobs that declared a utility: promised or refused, with the price."""
        reasons = dict(decision.reasons)
        for at in self._declared:
            key = self._snapshot.jobs[at].id
            reason = reasons[key]
            if reason.rule == "none":
                continue
            if key in self.promises:
                told = self.promises[key]
                reasons[key] = replace(reason, rule="promised", next_gain=told.value, cutoff=told.price)
            elif key in self.refused:
                quote = self.refused[key]
                rule = "refused" if quote.price else "no-room"
                reasons[key] = replace(reason, rule=rule, next_gain=quote.value, cutoff=quote.price)
        return Decision(decision.policy, decision.cores, reasons)


class _Asked:
    """What every declared job asks for, in order of arrival: core-slots of work, the most cores, the worth of ends."""

    def __init__(self, snapshot: Snapshot, declared: list[int], dues: Dues, capacity: int, slot: int) -> None:
        jobs, slot_s = [snapshot.jobs[at] for at in declared], snapshot.tuning.plan_slot_s
        self._slots = max(int(snapshot.tuning.plan_slots), 1)
        self._utilities = [job.utility or NO_VALUE for job in jobs]
        self._weight = np.array([job.weight for job in jobs])
        # Ends are counted from a job's arrival: a slot is over when it ends.
        self._first_s = (slot + 1) * slot_s - np.array([job.arrived_s for job in jobs])
        self._slot_s = slot_s
        work_core_s = snapshot.outlook.work_ahead(1.0)[1][declared]
        self.work: IntArray = np.maximum(np.ceil(work_core_s / slot_s), 1.0).astype(np.int64)
        self.width: IntArray = np.clip(dues.cap[declared], 1, capacity).astype(np.int64)

    def request(self, row: int) -> Request:
        """Of one job."""
        worth, urgency, target = self._utilities[row]
        ends_s = self._first_s[row] + np.arange(self._slots, dtype=np.float64) * self._slot_s
        value = Utility(worth * float(self._weight[row]), urgency, target).at(ends_s)
        return Request(int(self.work[row]), int(self.width[row]), np.ones(1), value)

    def bounds(self, room: FloatArray) -> Bounds:
        """U and L for these jobs."""
        worth, urgency, target = np.array(self._utilities).T

        def value(slots: FloatArray) -> FloatArray:
            late = np.clip(urgency * (self._first_s + slots * self._slot_s - target), -700.0, 700.0)
            found: FloatArray = worth * self._weight / (1.0 + np.exp(late))
            return found

        last, first = np.full(len(worth), self._slots - 1.0), np.zeros(len(worth))
        shortest = np.minimum(np.ceil(self.work / self.width) - 1.0, last)
        least = np.maximum(np.maximum(value(last), LEAST_VALUE * value(first)), LEAST_PRICED * worth * self._weight)
        ones, best = np.ones((len(worth), 1)), value(shortest)
        bounds = bounds_between(self.work.astype(float), ones, best, least, room, self._slots)
        low = max(bounds.low, self._scarcity(best, shortest, float(room.sum())))
        return Bounds(low, np.maximum(bounds.high, low))

    def _scarcity(self, best: FloatArray, shortest: FloatArray, cores: float) -> float:
        """The least that a core-slot has to bring while not all jobs can meet their targets; 0 if all can.

        The paper's L is next to nothing until two thirds of all slots are promised, so whoever comes first gets in,
        however little its end is worth. Here targets are met in order, and whenever the work until one of them is more
        than the cores do, the job that brings least for a core-slot gives way. The one that brings most never does.
        """
        _, urgency, target = np.array(self._utilities).T
        in_slots = np.where(urgency > 0.0, (target - self._first_s) / self._slot_s + 1.0, self._slots)
        until = np.maximum(in_slots, shortest + 1.0)
        density, work, least, due = (best / self.work).tolist(), self.work.tolist(), 0.0, 0.0
        kept: list[tuple[float, int]] = []
        for row in np.argsort(until, kind="stable").tolist():
            heappush(kept, (density[row], row))
            due += work[row]
            while due > cores * until[row] and len(kept) > 1:
                least, gone = max(least, kept[0][0]), heappop(kept)[1]
                due -= work[gone]
        return min(least, max(density, default=0.0) * (1.0 - 1e-9))


def _anyhow(pool: Pool, request: Request) -> Plan | None:
    """The best plan of a job that is admitted already: if none pays any more, the earliest end."""
    plan = best_plan(pool, None, request)
    if plan is not None:
        return plan
    free = Pool(pool.capacity, pool.slots, Bounds(1e-300, np.full(1, 1e-300)))
    free.used[:] = pool.used
    return best_plan(free, None, _worth_more(request, 1.0))


def _worth_more(request: Request, more: float) -> Request:
    return Request(request.work, request.width, request.demand, request.value + more)


def _rows(cores: tuple[int, ...]) -> IntArray:
    """Rows of slot, server, count of one pool of cores."""
    return np.array([(slot, 0, count) for slot, count in enumerate(cores) if count], dtype=np.int64).reshape(-1, 3)

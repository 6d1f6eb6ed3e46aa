"""oasis: jobs with a deadline or another utility get cores by plans over time, at prices (Bao et al., INFOCOM 2018).

Time is cut into slots. A job that declares what its end is worth is admitted if the best plan for the work it has left
is worth more than the cores it takes cost, and an admission is never withdrawn: where a plan no longer matches the work
that is left, the job is planned anew and what it does not need returns. Planned cores come before anything but what is
due to everyone. What no plan takes goes to jobs that declare nothing, then to admitted jobs, the earliest end first; a
job that is not admitted asks again in every slot and runs at its floor meanwhile.
"""

import math

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from slaq.model import Decision, FloatArray, IntArray, Snapshot
from slaq.oasis import Bounds, Plan, Pool, Request, Utility, best_plan, bounds_of
from slaq.policy.base import Dues, Rest, decide
from slaq.policy.water import water_fill


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

    def hand_out(snapshot: Snapshot, dues: Dues) -> Rest:
        planning.plan(dues)
        return Rest("fair", planning.extra(dues), np.zeros(len(snapshot.jobs)), 0.0)

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
        requests = self._requests(dues, capacity)
        room = np.array([[float(capacity)]])
        pool = Pool(room, slots, bounds_of(list(requests.values()), room, slots))
        for known in self.promises.values():
            pool.add(_rows(known.from_slot(self._slot)[:slots]), np.ones(1))
        left = self._snapshot.tuning.plans_at_once
        for at, request in requests.items():
            key = jobs[at].id
            promise, quote = self.promises.get(key), self.refused.get(key)
            if left <= 0:
                break  # the others keep what they have until the next decision
            if promise is not None and self._off(promise, request):
                pool.add(_rows(promise.from_slot(self._slot)[:slots]) * np.array([1, 1, -1]), np.ones(1))
                self._promise(key, pool, request, _anyhow(pool, request))
                left -= 1
            elif promise is None and (quote is None or quote.slot < self._slot):
                self._ask(key, pool, request)
                left -= 1

    def _requests(self, dues: Dues, capacity: int) -> dict[int, Request]:
        """What every declared job asks for, by its position, in order of arrival."""
        snapshot, found = self._snapshot, {}
        work_core_s = snapshot.outlook.work_ahead(1.0)[1]
        ends_s: FloatArray = (self._slot + 1 + np.arange(self._slots, dtype=np.float64)) * self._slot_s
        for at in self._declared:
            job = snapshot.jobs[at]
            if job.utility is None:
                continue
            worth, urgency, target = job.utility
            value = Utility(worth * job.weight, urgency, target).at(ends_s - job.arrived_s)
            width = max(min(int(dues.cap[at]), capacity), 1)
            work = max(math.ceil(float(work_core_s[at]) / self._slot_s), 1)
            found[at] = Request(work, width, np.ones(1), value)
        return found

    def _off(self, promise: Promise, request: Request) -> bool:
        """Whether a plan no longer matches the work: by more than a slot's width and a tenth."""
        ahead = sum(promise.from_slot(self._slot))
        return abs(ahead - request.work) > max(0.1 * request.work, 1.0) or not ahead

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

    def extra(self, dues: Dues) -> FloatArray:
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
        if len(others):
            held = dues.cores[others]
            shared = water_fill(left + float(held.sum()), dues.weight[others], held, dues.cap[others])
            extra[others] = shared - held
            left -= float(extra[others].sum())
        for at in admitted:
            more = min(max(float(dues.cap[at] - dues.cores[at] - extra[at]), 0.0), max(left, 0.0))
            extra[at] += more
            left -= more
        return extra

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

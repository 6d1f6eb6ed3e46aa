"""What all policies share: floors, reservations, fair shares, and the reasons.

A policy is asked only how to hand out the cores that are left once everyone has what is due to them:

0. A group of jobs counts as one job, of which each member is an equal part: so do its floor and its weight.
1. Every job is due one core while jobs ≤ cores, plus its reservation as far as the floors allow.
2. Jobs that train nothing are due their weighted fair share (SLAQ §4.3).
3. The policy hands out the rest to training jobs.
4. What they cannot use is shared fairly among those who can: no core is withheld.
5. With more jobs than cores there is no core for each. Instead nobody ever runs at less than `Tuning.crowd_share` of
   its fair share; what that takes, the others give.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from slaq.model import Decision, FloatArray, IntArray, Job, Reason, Snapshot
from slaq.policy.climb import Value, climb
from slaq.policy.water import water_fill


@dataclass(frozen=True, slots=True)
class Policy:
    """A name, the function behind it, and what it remembers from one decision to the next.

    `allocate(snapshot, memory)` returns the decision and the next memory. A memory is a frozen `msgspec.Struct`: it is
    part of the engine's state, logged with it, and read back as the type of `memory`, which is what the policy begins
    with. A policy without one gets and returns None.
    """

    name: str
    allocate: Callable[[Snapshot, Any], tuple[Decision, Any]]
    memory: Struct | None = None


def stateless(name: str, allocate: Callable[[Snapshot], Decision]) -> Policy:
    """A policy that remembers nothing."""
    return Policy(name, lambda snapshot, _: (allocate(snapshot), None))


@dataclass(frozen=True, slots=True)
class Dues:
    """What is due to each job before a policy hands out the rest, one entry per job of the snapshot."""

    cap: FloatArray
    """The most it can use of these cores."""
    weight: FloatArray
    """Of each job, as the part of one job that it is."""
    cores: FloatArray
    """Floor, reservation or fair share; together at most the snapshot's cores."""
    rule: NDArray[np.object_]
    """Which of these it is, as a key of `slaq.model.decision.RULES`."""
    training: IntArray
    """Positions of the jobs the policy may give more to."""
    budget: float
    """Cores left for them."""
    share: FloatArray
    """Everyone's weighted fair share."""
    crowded: bool
    """Whether there are more jobs than cores, a group being one."""


@dataclass(frozen=True, slots=True)
class Rest:
    """How a policy hands out the rest: cores on top of what is due, by position in the snapshot."""

    rule: str
    extra: FloatArray
    next_gain: FloatArray
    cutoff: float


def decide(
    name: str, snapshot: Snapshot, hand_out: Callable[[Snapshot, Dues], Rest], overdue: FloatArray | None = None
) -> Decision:
    """The decision of a policy that hands out the rest with `hand_out`.

    `overdue`: cores that jobs get in any case while jobs ≤ cores, whatever the policy thinks of them.
    """
    dues = _dues(snapshot)
    rest = hand_out(snapshot, dues)
    cores = dues.cores + rest.extra
    if snapshot.cores - cores.sum() > 1e-9:
        cores = water_fill(snapshot.cores, dues.weight, cores, dues.cap)
    rule = np.where(cores > dues.cores + 1e-9, rest.rule, dues.rule)
    rule[(cores >= dues.cap - 1e-9) & (dues.rule != "none")] = "cap"
    sure = snapshot.tuning.crowd_share * dues.share if dues.crowded else overdue
    if sure is not None:
        cores = _lifted(cores, dues.cores, sure)
    return explained(name, snapshot.jobs, cores, rule, rest.next_gain, rest.cutoff)


def _lifted(cores: FloatArray, due: FloatArray, sure: FloatArray) -> FloatArray:
    """Nobody below what is due, nor below what is sure as far as the cores go: what that takes, the others give in
    proportion to what they have above it."""
    more = np.maximum(sure - due, 0.0)
    spare = max(float(cores.sum() - due.sum()), 0.0)
    least = due + more * min(1.0, spare / max(float(more.sum()), 1e-300))
    above = np.maximum(cores - least, 0.0)
    left = max(float(cores.sum() - least.sum()), 0.0)
    lifted: FloatArray = least + above * (left / max(float(above.sum()), 1e-300))
    return lifted


def in_order(rule: str, dues: Dues, key: FloatArray) -> Rest:
    """The rest to training jobs in rising order of `key` (one entry per job), each taking all it can use."""
    order = dues.training[np.argsort(key[dues.training], kind="stable")]
    room = np.maximum(dues.cap - dues.cores, 0.0)[order]
    extra = np.zeros(len(dues.cap))
    extra[order] = np.clip(dues.budget - (np.cumsum(room) - room), 0.0, room)
    return Rest(rule, extra, np.zeros(len(extra)), 0.0)


def core_by_core(
    name: str,
    rule: str,
    snapshot: Snapshot,
    worth: Value,
    overdue: FloatArray | None = None,
) -> Decision:
    """The decision of a policy that gives each further core to the training job for which it is worth most.

    `worth` says what the next core is worth to jobs, by their positions in the snapshot; weights multiply it.
    """

    def hand_out(_: Snapshot, dues: Dues) -> Rest:
        return next_cores(rule, dues, dues.training, dues.budget, worth)

    return decide(name, snapshot, hand_out, overdue)


def next_cores(rule: str, dues: Dues, at: IntArray, budget: float, worth: Value) -> Rest:
    """The budget core by core to those of the jobs `at` for which the next is worth most; weights multiply it."""

    def weighted(job: IntArray, cores: FloatArray) -> FloatArray:
        chosen = at[job]
        return dues.weight[chosen] * worth(chosen, cores)

    held = dues.cores[at]
    result = climb(weighted, held, dues.cap[at], budget)
    extra, next_gain = np.zeros(len(dues.cap)), np.zeros(len(dues.cap))
    extra[at] = result.won
    next_gain[at] = weighted(np.arange(len(at))[:, None], (held + result.won)[:, None])[:, 0]
    return Rest(rule, extra, next_gain, result.cutoff)


def explained(
    name: str,
    jobs: tuple[Job, ...],
    cores: FloatArray,
    rule: NDArray[np.object_],
    next_gain: FloatArray,
    cutoff: float,
) -> Decision:
    """A decision from its columns."""
    rows = zip(jobs, rule.tolist(), cores.tolist(), next_gain.tolist(), strict=True)
    reasons = {job.id: Reason(why, given, gain, cutoff, job.waited) for job, why, given, gain in rows}
    return Decision(name, {job_id: reason.cores for job_id, reason in reasons.items()}, reasons)


@dataclass(frozen=True, slots=True)
class Fair:
    """Everyone's weighted fair share, and what it rests on."""

    share: FloatArray
    due: FloatArray
    """Floor and reservation."""
    cap: FloatArray
    weight: FloatArray
    crowded: bool


def fair_shares(snapshot: Snapshot) -> Fair:
    """Weighted max-min fair shares above floors and reservations."""
    capacity, part = float(snapshot.cores), snapshot.groups.part
    cap = np.minimum(snapshot.column("max_cores"), capacity)
    weight = snapshot.column("weight") * part
    crowded = bool(part.sum() > capacity + 1e-9)
    floor = np.zeros(len(cap)) if crowded else np.minimum(part, cap)
    asked = snapshot.column("reserved_cores")
    wish = np.clip(asked - floor, 0.0, cap - floor)
    # Reservations are met in order of arrival, and never take the last core from those without one.
    spare = capacity - floor.sum() - (1.0 if crowded and not asked.all() else 0.0)
    due = floor + np.clip(spare - (np.cumsum(wish) - wish), 0.0, wish)
    return Fair(water_fill(capacity, weight, due, cap), due, cap, weight, crowded)


def _dues(snapshot: Snapshot) -> Dues:
    fair = fair_shares(snapshot)
    ml = snapshot.column("ml") > 0.0
    cores = np.where(ml, fair.due, fair.share)
    rule = np.full(len(cores), "floor", dtype=np.object_)
    rule[fair.due > 1.0] = "reserved"
    rule[~ml] = "fair"
    training = np.flatnonzero(ml)
    budget = max(snapshot.cores - float(cores.sum()), 0.0)
    if fair.crowded:
        rule[ml & (fair.due < 1.0)] = "waiting"
    if not snapshot.cores:
        rule[:] = "none"
    return Dues(fair.cap, fair.weight, cores, rule, training, budget, fair.share, fair.crowded)

"""Fairness between people first: each user's cores are decided before a policy divides them among that user's jobs.

1. A user is due the cores reserved for their jobs, and may use what those can use, up to the user's own limit.
2. Between these bounds users share by weight (weighted max-min): what one cannot use goes to the others.
3. The policy divides a user's cores among that user's jobs as if there were no others; a group of jobs counts as one.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace as changed

from slaq.engine.state import SLACK, UserDue, check
from slaq.model import Decision, FloatArray, IntArray, Outlook, Reason, Snapshot
from slaq.policy import Policy
from slaq.policy.water import water_fill

NO_TABLE = UserDue("")
"""What a user is due of whom nothing is said."""


@dataclass(frozen=True, slots=True)
class PartOfOutlook:
    """The outlook for some of the jobs, by their positions among all."""

    whole: Outlook
    at: IntArray

    def reduction(self, job: IntArray, cores: FloatArray) -> FloatArray:
        return self.whole.reduction(self.at[job], cores)

    def loss(self, job: IntArray, cores: FloatArray) -> FloatArray:
        return self.whole.loss(self.at[job], cores)

    def ahead(self, job: IntArray, cores: FloatArray) -> FloatArray:
        return self.whole.ahead(self.at[job], cores)

    def worked(self, job: IntArray, cores: FloatArray) -> FloatArray:
        return self.whole.worked(self.at[job], cores)

    def reached(self) -> FloatArray:
        return self.whole.reached()[self.at]

    def until(self, share: float) -> FloatArray:
        return self.whole.until(share)[self.at]

    def work_ahead(self, share: float) -> tuple[FloatArray, FloatArray]:
        chance, work_core_s = self.whole.work_ahead(share)
        return chance[self.at], work_core_s[self.at]


def decide_by_user(
    snapshot: Snapshot, policy: Policy, memory: Mapping[str, Any], dues: Mapping[str, UserDue]
) -> tuple[Decision, dict[str, Struct | None]]:
    """The policy's decision about each user's jobs with that user's cores, and its memory of each user.

    A SlaqError if one of them does not fit (see `check`).
    """
    places: dict[str, list[int]] = {}
    for place, job in enumerate(snapshot.jobs):
        places.setdefault(job.user, []).append(place)
    cores = user_cores(snapshot, places, dues)
    reasons: dict[str, Reason] = {}
    memories: dict[str, Struct | None] = {}
    for (user, at), mine in zip(places.items(), cores.tolist(), strict=True):
        jobs = tuple(snapshot.jobs[place] for place in at)
        part = replace(snapshot, jobs=jobs, cores=mine, outlook=PartOfOutlook(snapshot.outlook, np.array(at)))
        decision, memories[user] = policy.allocate(part, memory.get(user, policy.memory))
        check(part, decision)
        for job in jobs:
            reason = decision.reasons[job.id]
            all_of_it = reason.rule == "cap" and reason.cores < min(job.max_cores, snapshot.cores) - SLACK
            reasons[job.id] = changed(reason, rule="user") if all_of_it else reason
    ordered = {job.id: reasons[job.id] for job in snapshot.jobs}
    return Decision(policy.name, {key: reason.cores for key, reason in ordered.items()}, ordered), memories


def user_cores(snapshot: Snapshot, places: Mapping[str, list[int]], dues: Mapping[str, UserDue]) -> FloatArray:
    """The cores of each user, in the order of `places`, which says where in the snapshot their jobs are."""
    capacity = float(snapshot.cores)
    standing = [dues.get(user, NO_TABLE) for user in places]
    useful = np.minimum(snapshot.column("max_cores"), capacity)
    asked = np.minimum(snapshot.column("reserved_cores"), useful)
    high = np.array(
        [min(float(useful[at].sum()), due.max_cores) for at, due in zip(places.values(), standing, strict=True)]
    )
    weight = np.array([due.weight for due in standing])
    low = np.minimum(np.array([float(asked[at].sum()) for at in places.values()]), high)
    # Reservations beyond all cores shrink in proportion, and never take the last part from users without one.
    fair = water_fill(capacity, weight, np.zeros(len(high)), high)
    kept = snapshot.tuning.crowd_share * float(fair[low < fair].sum())
    if low.sum() > capacity - kept:
        low *= max(capacity - kept, 0.0) / math.fsum(low)
    return water_fill(capacity, weight, low, high)

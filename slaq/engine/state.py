"""What the engine knows between two events, what it asks its shell to do, and what always holds."""

import math
from typing import Any

from msgspec import Struct

from slaq.errors import SlaqError
from slaq.model import Decision, Job, Snapshot, Tuning
from slaq.predict import LEARNED


class UserDue(Struct, frozen=True, array_like=True):
    """What one user is due where cores are shared between users first."""

    user: str
    weight: float = 1.0
    max_cores: float = math.inf
    """Cores that the user's jobs may hold together."""


class State(Struct, frozen=True):
    """The engine's whole memory; build one with the cores to share out and an epoch, then `step` it."""

    cores: int = 0
    policy: str = "max-total"
    predictor: str = LEARNED
    epoch_s: float = 1.0
    lease_s: float = 10.0
    """A job that is not heard of for this long is gone; its cores return."""
    now_s: float = 0.0
    """Time of the latest event; it never goes back, whatever the events say."""
    decided_s: float = 0.0
    """Time of the latest decision."""
    epoch: int = 0
    """Decisions made so far."""
    jobs: dict[str, Job] = {}
    """The living jobs in order of arrival; never changed in place once the state is out."""
    tuning: Tuning = Tuning()
    memory: Any = None
    """What the policy remembers: a frozen record of the type that the policy declares, or None. With `fair_users`
    such a record for each user."""
    fair_users: bool = False
    """Whether each user's cores are decided before the policy divides them among that user's jobs."""
    users: dict[str, UserDue] = {}
    """What users are due, with `fair_users`; who is missing has the weight 1 and no limit."""


class Allocated(Struct, frozen=True, tag=True):
    """Give every job these cores."""

    epoch: int
    decision: Decision


class JobEnded(Struct, frozen=True, tag=True):
    """A job is over, or its driver was silent for longer than the lease; `job.life` tells which. It is not counted
    any more."""

    job: Job


class PolicyFailed(Struct, frozen=True, tag=True):
    """The policy, or the predictor it was asked with, broke on this epoch's jobs; `fair` decided instead."""

    epoch: int
    policy: str
    error: str


class JobPreempted(Struct, frozen=True, tag=True):
    """A job makes room for a trial: its cores go there, all or some, until the trial has ended or has enough."""

    epoch: int
    job_id: str
    user: str
    trial: str
    cores: float
    """What it keeps."""
    score: float
    """Of the jobs that could have made room it had the lowest, or was the largest; see `slaq.policy.victims`."""
    times: int
    """With this one."""


Effect = Allocated | JobEnded | JobPreempted | PolicyFailed

SLACK = 1e-6
"""Rounding that a decision may have, in cores."""


def check(snapshot: Snapshot, decision: Decision) -> None:
    """Raise SlaqError unless the decision fits: a reason for every job and no others, Σ ≤ capacity, caps and floors."""
    cores, active, reasons = snapshot.cores, snapshot.jobs, decision.reasons
    if [job.id for job in active] != list(reasons) or len(decision.cores) != len(active):
        strays = sorted({job.id for job in active} ^ reasons.keys() | decision.cores.keys() ^ reasons.keys())[:3]
        raise SlaqError(f"the decision and the active jobs differ in {', '.join(map(repr, strays)) or 'their order'}")
    total = sum([reason.cores for reason in reasons.values()])
    if not total <= cores + SLACK:
        raise SlaqError(f"{total:g} cores were handed out, there are {cores:g}")
    parts = snapshot.groups.part
    floors = parts.tolist() if parts.sum() <= cores else [0.0] * len(active)
    for job, floor, reason in zip(active, floors, reasons.values(), strict=True):
        given = reason.cores
        fits = floor - SLACK <= given <= job.max_cores + SLACK or (given == 0.0 and reason.rule == "preempted")
        if not fits or decision.cores.get(job.id) != given:
            raise SlaqError(f"job {job.id!r} got {given:g} cores; its floor is {floor:g}, it can use {job.max_cores:g}")

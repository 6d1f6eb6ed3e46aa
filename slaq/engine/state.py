"""What the engine knows between two events, what it asks its shell to do, and what always holds."""

from msgspec import Struct

from slaq.errors import SlaqError
from slaq.model import Decision, Job


class State(Struct, frozen=True):
    """The engine's whole memory; build one with the cores to share out and an epoch, then `step` it."""

    cores: int = 0
    policy: str = "max-total"
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
    """The active jobs in order of arrival; never changed in place once the state is out."""


class Allocated(Struct, frozen=True, tag=True):
    """Give every job these cores."""

    epoch: int
    decision: Decision


class JobLost(Struct, frozen=True, tag=True):
    """A job has been silent for longer than its lease and is no longer counted."""

    job_id: str
    silent_s: float


class PolicyFailed(Struct, frozen=True, tag=True):
    """The policy broke on this epoch's snapshot; `fair` decided instead."""

    epoch: int
    policy: str
    error: str


Effect = Allocated | JobLost | PolicyFailed


def check(state: State, decision: Decision) -> None:
    """Raise SlaqError unless the decision fits the state: no orphans, Σ ≤ capacity, caps and floors kept."""
    active = {job.id: job for job in state.jobs.values() if not job.held}
    if decision.cores.keys() != active.keys():
        strays = sorted(decision.cores.keys() ^ active.keys())[:3]
        raise SlaqError(f"the decision and the active jobs differ in {', '.join(map(repr, strays))}")
    total = sum(decision.cores.values())
    if not total <= state.cores + 1e-6:
        raise SlaqError(f"{total:g} cores were handed out, there are {state.cores}")
    floor = 1.0 if len(active) <= state.cores else 0.0
    for job_id, cores in decision.cores.items():
        if not floor - 1e-6 <= cores <= active[job_id].max_cores + 1e-6:
            raise SlaqError(
                f"job {job_id!r} got {cores:g} cores; its floor is {floor:g}, it can use {active[job_id].max_cores:g}"
            )

"""Trials get in before best-effort jobs, whatever the policy: the victims of FitGpp (OpML 2019) on shared cores.

The policy decides as if there were no classes. Then every trial, in order of arrival, gets the cores that it can use
and was not given: what best-effort jobs that came after its victims have above their floor, what its victims would
have, and if that is not enough, those of one more victim (`slaq.policy.victims`), or of several where none is large
enough alone. A victim keeps what the trial leaves of its cores, if that is its floor or more; otherwise it is stopped,
and its running tasks are its grace period. It resumes when the trial has ended, or for as long as the policy gives the
trial enough; to the end of the trial it stays the one that makes room, which counts once.

Never victims: trials, work without a loss, and jobs that declared what their end is worth: their cores are planned.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from slaq.model import Decision, FloatArray, Job, Reason, Snapshot
from slaq.policy.base import Policy, fair_shares
from slaq.policy.victims import Running, VictimRules, scores, spared, victim
from slaq.policy.water import water_fill

ENOUGH = 0.9
"""A trial that has this share of the cores it can use preempts nobody for the rest: in a crowd the floors of all others
are a twentieth."""
WORTH_TAKING = 0.5
"""A job that holds less than this share of its fair share is no victim: others have its cores."""


def with_room(policy: Policy) -> Policy:
    """The policy with room made for trials."""

    def allocate(snapshot: Snapshot, memory: Any) -> tuple[Decision, Any]:
        decision, memory = policy.allocate(snapshot, memory)
        return make_room(snapshot, decision), memory

    return Policy(policy.name, allocate, policy.memory)


def make_room(snapshot: Snapshot, decision: Decision) -> Decision:
    """The decision with what trials take from best-effort jobs; the same if there is no trial."""
    trials = [at for at, job in enumerate(snapshot.jobs) if job.te]
    if not trials or not snapshot.cores:
        return decision
    room = _Room(snapshot, decision)
    for trial in trials:
        room.make(trial)
    return room.decision(decision)


class _Room:
    """Cores on their way from one job to another; jobs by their positions in the snapshot."""

    def __init__(self, snapshot: Snapshot, decision: Decision) -> None:
        self._jobs, self._now_s, self._capacity = snapshot.jobs, snapshot.now_s, float(snapshot.cores)
        tuning = snapshot.tuning
        self._rules = VictimRules(
            grace_weight=tuning.trial_grace_weight,
            most_preemptions=tuning.trial_most_preemptions,
            least_run_s=tuning.trial_least_run_s,
        )
        fair = fair_shares(snapshot)
        self._fair = fair
        self._floor = tuning.crowd_share * fair.share if fair.crowded else np.minimum(snapshot.groups.part, fair.cap)
        self._cores: FloatArray = np.array([decision.cores[job.id] for job in snapshot.jobs])
        self._effort = np.array([not job.te and job.ml and job.utility is None for job in snapshot.jobs])
        self._reasons: dict[int, Callable[[float], Reason]] = {}
        self._stopped: set[int] = set()
        self._bound: dict[int, str] = {}
        """Whoever made room for a trial before, and for which."""

    def make(self, trial: int) -> None:
        """Take for one trial."""
        had = self._cores[trial]
        theirs = sorted(
            (at for at, job in enumerate(self._jobs) if job.preempted_by == self._jobs[trial].id and self._effort[at]),
            key=lambda at: self._jobs[at].life.since_s,
        )
        if theirs:
            self._take_from_new_work(trial, self._jobs[theirs[0]].life.since_s, theirs)
        for at in theirs:
            self._bound[at] = self._jobs[trial].id
            if self._missing(trial) > 0.0:
                self._take(trial, at, 0.0)
        while self._missing(trial) > 0.0 and (found := self._victim(trial)) is not None:
            self._take(trial, *found)
        if self._cores[trial] > had:
            self._reasons[trial] = lambda cores: Reason("trial", cores)

    def decision(self, before: Decision) -> Decision:
        """What came of it."""
        left = self._capacity - float(self._cores.sum())
        if self._stopped and left > 1e-9:
            running = np.array([at for at in range(len(self._jobs)) if at not in self._stopped])
            low, high = self._cores[running], np.maximum(self._fair.cap[running], self._cores[running])
            self._cores[running] = water_fill(float(low.sum()) + left, self._fair.weight[running], low, high)
        reasons = {}
        for at, (job, cores) in enumerate(zip(self._jobs, self._cores.tolist(), strict=True)):
            old = before.reasons[job.id]
            found = self._reasons.get(at)
            if found is not None:
                reasons[job.id] = found(cores)
            else:
                by = self._bound.get(at, "")
                reasons[job.id] = Reason(old.rule, cores, old.next_gain, old.cutoff, old.waited, by)
        return Decision(before.policy, {key: reason.cores for key, reason in reasons.items()}, reasons)

    def _missing(self, trial: int) -> float:
        """The cores without which the trial has not enough."""
        return max(ENOUGH * float(self._fair.cap[trial]) - float(self._cores[trial]), 0.0)

    def _take_from_new_work(self, trial: int, since_s: float, victims: list[int]) -> None:
        """Best-effort jobs that came after a victim have their floor until it resumes."""
        for at, job in enumerate(self._jobs):
            if self._effort[at] and at not in victims and job.arrived_s > since_s and self._missing(trial) > 0.0:
                wanted = float(self._fair.cap[trial] - self._cores[trial])
                surplus = min(float(self._cores[at] - self._floor[at]), wanted)
                if surplus > 0.0:
                    self._move(trial, at, surplus)
                    self._reasons[at] = lambda cores: Reason("new-work", cores)

    def _victim(self, trial: int) -> tuple[int, float] | None:
        """Who makes room next, and its score: one that is enough alone, or else the largest."""
        rows = np.flatnonzero(self._effort & (self._cores >= WORTH_TAKING * self._fair.share) & (self._cores > 0.0))
        rows = np.array([at for at in rows if at not in self._reasons], dtype=np.int64)
        if not len(rows):
            return None
        demand = self._cores[rows][:, None]
        jobs = [self._jobs[at] for at in rows]
        running = Running(
            demand=demand,
            free=np.zeros_like(demand),
            grace_s=np.array([_task_s(job, cap) for job, cap in zip(jobs, self._fair.cap[rows], strict=True)]),
            preemptions=np.array([float(job.preemptions) for job in jobs]),
            ran_s=np.array([self._now_s - job.life.since_s if job.life.granted else 0.0 for job in jobs]),
            leaving=np.zeros(len(rows), dtype=bool),
        )
        capacity = np.array([self._capacity])
        row = victim(np.array([self._missing(trial)]), running, capacity, self._rules)
        if row is None:
            allowed = np.flatnonzero(~spared(running, self._rules))
            if not len(allowed):
                return None
            row = int(allowed[np.argmax(demand[allowed, 0])])
        score = scores(running, capacity, self._rules, np.ones(len(rows), dtype=bool))[row]
        return int(rows[row]), float(score)

    def _take(self, trial: int, at: int, score: float) -> None:
        by = self._jobs[trial].id
        wanted = float(self._fair.cap[trial] - self._cores[trial])
        rest = self._cores[at] - wanted
        if rest >= self._floor[at]:
            self._move(trial, at, wanted)
            self._reasons[at] = lambda cores: Reason("made-room", cores, score, by=by)
            return
        self._move(trial, at, min(float(self._cores[at]), wanted))
        self._cores[at] = 0.0
        self._stopped.add(at)
        self._reasons[at] = lambda _: Reason("preempted", 0.0, score, by=by)

    def _move(self, trial: int, at: int, cores: float) -> None:
        self._cores[at] -= cores
        self._cores[trial] += cores


def _task_s(job: Job, cores: float) -> float:
    """About how long a task of the job runs: the work of an iteration by the cores that it can use; 0: not known."""
    known = [work for work in job.history.costs[::2] if work == work]
    return float(np.median(known)) / max(cores, 1.0) if known else 0.0

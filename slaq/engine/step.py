"""The step: one event in, the next state and the effects out. Pure, and the same for the same input."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, assert_never

from msgspec.structs import replace

from slaq import policy, predict
from slaq.engine.between_users import decide_by_user
from slaq.engine.events import (
    CapacityChanged,
    EpochEnded,
    Event,
    JobJoined,
    JobMoved,
    JobReported,
    JobSeen,
    PolicyChanged,
    PredictorChanged,
    Share,
    SharesChanged,
    TuningChanged,
    UsersChanged,
)
from slaq.engine.state import Allocated, Effect, JobEnded, JobPreempted, PolicyFailed, State, check
from slaq.errors import SlaqError
from slaq.model import Decision, Job, Outlook, Reason, Snapshot, Tuning
from slaq.model.job import validated
from slaq.model.life import Life, Move, moved
from slaq.policy.room import with_room

Predictor = Callable[[Sequence[Job], float, Tuning], Outlook]
"""predictor(jobs, epoch_s, tuning): the outlook of the jobs for the coming epoch."""

Predictors = Callable[[str], Predictor]
"""predictors(name): the predictor of that name. A shell may watch it, or put one of its own in its place."""


def step(state: State, event: Event, predictors: Predictors = predict.get) -> tuple[State, list[Effect]]:
    """The state after one event, and what the shell has to do about it.

    An event that makes no sense (an unknown policy, a negative weight) raises SlaqError and changes nothing.
    Events about jobs that are not alive are ignored: they are late, not wrong.
    """
    return run(state, (event,), predictors)


def run(state: State, events: Iterable[Event], predictors: Predictors = predict.get) -> tuple[State, list[Effect]]:
    """Several events in a row, for the price of copying the state once."""
    state = replace(state, jobs=dict(state.jobs))
    effects: list[Effect] = []
    for event in events:
        now_s = event.now_s if math.isfinite(event.now_s) else state.now_s
        state = _apply(replace(state, now_s=max(state.now_s, now_s)), event, predictors, effects)
    return state, effects


def replay(
    state: State, events: Iterable[Event], predictors: Predictors = predict.get
) -> Iterator[tuple[Event, State, list[Effect]]]:
    """Every event of a recording with the state and the effects that followed it."""
    for event in events:
        state, effects = step(state, event, predictors)
        yield event, state, effects


def _apply(state: State, event: Event, predictors: Predictors, effects: list[Effect]) -> State:
    """The next state; `state.jobs` is a private dict of this run and is changed in place."""
    match event:
        case EpochEnded():
            _lose_silent(state, effects)
            return _decide(state, predictors, effects)
        case CapacityChanged(cores=cores):
            if cores < 0:
                raise SlaqError(f"capacity is {cores} cores; give 0 or more")
            return replace(state, cores=cores)
        case PolicyChanged(policy=name):
            chosen = policy.get(name)
            return state if name == state.policy else replace(state, policy=name, memory=_nothing(state, chosen))
        case PredictorChanged(predictor=name):
            predictors(name)
            return replace(state, predictor=name)
        case UsersChanged():
            return _with_users(state, event)
        case TuningChanged():
            return _retuned(state, event)
        case SharesChanged(shares=shares):
            for share in shares:
                if share.job_id in state.jobs:
                    state.jobs[share.job_id] = _due(state, state.jobs[share.job_id], share)
        case JobJoined(job=job):
            state.jobs[job.id] = _joined(validated(job), state.jobs.get(job.id), state.now_s)
        case JobReported(job_id=job_id):
            _update(state, job_id, _reported, event)
        case JobSeen(job_id=job_id):
            _update(state, job_id, _seen, event)
        case JobMoved(job_id=job_id, move=move):
            if job_id in state.jobs:
                _move(state, state.jobs[job_id], move, effects)
        case _:
            assert_never(event)
    return state


def _update(state: State, job_id: str, change: Callable[[Job, Any, float], Job], what: Any) -> None:
    """Change a job if it is alive."""
    if job_id in state.jobs:
        state.jobs[job_id] = change(state.jobs[job_id], what, state.now_s)


def _nothing(state: State, chosen: policy.Policy) -> Any:
    """What a policy remembers that has not decided yet."""
    return None if state.fair_users else chosen.memory


def _with_users(state: State, event: UsersChanged) -> State:
    for due in event.users:
        if not (0.0 < due.weight < math.inf and due.max_cores > 0.0):
            raise SlaqError(
                f"user {due.user!r}: weight {due.weight!r}, max_cores {due.max_cores!r}; give positive numbers"
            )
    state = replace(state, users={due.user: due for due in event.users})
    if event.fair == state.fair_users:
        return state
    state = replace(state, fair_users=event.fair)
    return replace(state, memory=_nothing(state, policy.get(state.policy)))


def _retuned(state: State, event: TuningChanged) -> State:
    epoch_s = state.epoch_s if event.epoch_s is None else event.epoch_s
    lease_s = state.lease_s if event.lease_s is None else event.lease_s
    if not (0.0 < epoch_s < math.inf and 0.0 < lease_s < math.inf):
        raise SlaqError(f"an epoch of {epoch_s} s with a lease of {lease_s} s; give positive, finite numbers")
    return replace(state, epoch_s=epoch_s, lease_s=lease_s, tuning=event.tuning or state.tuning)


def _joined(job: Job, before: Job | None, now_s: float) -> Job:
    """A job as it begins, or with what its driver declares anew.

    One that goes on after a scheduler's restart brings its history and what it has attained.
    """
    if before is None:
        return Job(
            job.id, job.user, job.group, job.weight, job.max_cores, job.reserved_cores, job.target_loss,
            job.max_iterations, job.ml, job.estimator, job.expected, Life(since_s=now_s), job.history, arrived_s=now_s,
            attained_core_s=job.attained_core_s, reported_core_s=job.attained_core_s, ready_core_s=job.ready_core_s,
            seen_s=now_s, utility=job.utility, te=job.te, preemptions=job.preemptions,
        )  # fmt: skip
    return replace(
        before,
        group=job.group,
        max_cores=job.max_cores,
        target_loss=job.target_loss,
        max_iterations=job.max_iterations,
        ml=job.ml,
        estimator=job.estimator,
        expected=job.expected,
        seen_s=now_s,
        utility=job.utility,
        te=job.te,
    )


def _due(state: State, job: Job, share: Share) -> Job:
    job = validated(replace(job, weight=share.weight, reserved_cores=share.reserved_cores, max_cores=share.max_cores))
    return _living(state, job, moved(job.life, "exceed-quota" if share.over_quota else "meet-quota", state.now_s))


def _living(state: State, job: Job, life: Life) -> Job:
    """The job with another life. One that has to give its cores back is charged for them up to now."""
    if life is job.life:
        return job
    if life.granted or not job.cores:
        return replace(job, life=life)
    held_core_s = 0.0 if job.told else job.cores * (state.now_s - state.decided_s)
    return replace(job, life=life, cores=0.0, attained_core_s=job.attained_core_s + held_core_s)


def _reported(job: Job, event: JobReported, now_s: float) -> Job:
    history = job.history
    for report in event.reports:
        history = history.add(report)
    job = _seen(job, event, now_s)
    ready_core_s = job.ready_core_s
    if not len(job.history) and len(history):
        iterations_core_s = sum(report.work_core_s or 0.0 for report in event.reports)
        ready_core_s = max(job.attained_core_s - iterations_core_s, 0.0)
    return replace(job, history=history, reported_core_s=job.attained_core_s, ready_core_s=ready_core_s)


def _seen(job: Job, event: JobReported | JobSeen, now_s: float) -> Job:
    """The job with what it has held so far and what its stages under way still need, if it tells.

    Of one that reported before it told, as after a scheduler's restart, counting begins now.
    """
    held_core_s = event.held_core_s
    if held_core_s is None:
        return replace(job, seen_s=now_s)
    reported = job.reported_core_s if job.told else held_core_s if len(job.history) else 0.0
    attained, due = max(held_core_s, reported), event.due_core_s or 0.0
    return replace(job, seen_s=now_s, told=True, attained_core_s=attained, reported_core_s=reported, due_core_s=due)


def _move(state: State, job: Job, move: Move, effects: list[Effect]) -> None:
    """Make a move in a job's life; one that ends it takes the job out of the state."""
    life = moved(job.life, move, state.now_s)
    if life is job.life:
        return
    job = _living(state, job, life)
    if life.over:
        del state.jobs[job.id]
        effects.append(JobEnded(job))
    else:
        state.jobs[job.id] = job


def _lose_silent(state: State, effects: list[Effect]) -> None:
    heard_s = state.now_s - state.lease_s
    for job in [job for job in state.jobs.values() if job.seen_s < heard_s]:
        _move(state, job, "lose", effects)


def _decide(state: State, predictors: Predictors, effects: list[Effect]) -> State:
    """One epoch: snapshot, predict, allocate, note what everyone got."""
    elapsed_s = state.now_s - state.decided_s if state.epoch else 0.0
    jobs = state.jobs
    for job in jobs.values():
        if job.cores and not job.told:
            jobs[job.id] = replace(job, attained_core_s=job.attained_core_s + job.cores * elapsed_s)
    active = tuple([job for job in jobs.values() if not job.life.waits or job.life.schedulable])
    state = replace(state, epoch=state.epoch + 1, decided_s=state.now_s)
    decision, memory = _allocation(state, active, predictors, effects)
    effects.append(Allocated(state.epoch, decision))
    even_share = min(1.0, state.cores / len(active)) * (1.0 - 1e-9) if active else 0.0
    lives: dict[tuple[Life, str], Life] = {}
    for job, reason in zip(active, decision.reasons.values(), strict=True):
        cores = reason.cores
        waited = 0 if cores >= even_share else job.waited + 1
        move: Literal["preempt", "grant", "starve"] = (
            "preempt" if reason.rule == "preempted" else "grant" if cores > 0.0 else "starve"
        )
        if (life := lives.get((job.life, move))) is None:  # most jobs have one of a few lives
            life = lives[job.life, move] = _life_after(job.life, move, state.now_s)
        if cores != job.cores or waited != job.waited or life is not job.life:
            jobs[job.id] = replace(job, cores=cores, waited=waited, life=life)
        if reason.by != job.preempted_by:
            _makes_room(state, jobs[job.id], reason, effects)
    return replace(state, memory=memory)


def _makes_room(state: State, job: Job, reason: Reason, effects: list[Effect]) -> None:
    """Note for which trial a job makes room from now on, if for one."""
    times = job.preemptions + bool(reason.by)
    if reason.by:
        told = JobPreempted(state.epoch, job.id, job.user, reason.by, reason.cores, reason.next_gain, times)
        effects.append(told)
    state.jobs[job.id] = replace(job, preempted_by=reason.by, preemptions=times)


def _life_after(life: Life, move: Literal["preempt", "grant", "starve"], now_s: float) -> Life:
    """The life of a job that took part in a decision."""
    if life.waits and move != "preempt":
        life = moved(life, "resume", now_s)
    return moved(life, move, now_s)


def _allocation(
    state: State, active: tuple[Job, ...], predictors: Predictors, effects: list[Effect]
) -> tuple[Decision, Any]:
    """The policy's decision and memory; if predictor or policy break, the fair one: no epoch goes without."""
    context = (state.now_s, state.epoch_s, state.tuning)
    try:
        outlook = predictors(state.predictor)(active, state.epoch_s, state.tuning)
        chosen = with_room(policy.get(state.policy))
        return _decided(state, chosen, Snapshot(active, state.cores, outlook, *context), state.memory)
    except Exception as error:  # anything: a scheduler that stops deciding is worse than a plain decision
        effects.append(PolicyFailed(state.epoch, state.policy, f"{type(error).__name__}: {error}"))
        blind = Snapshot(active, state.cores, predict.look_ahead((), state.epoch_s), *context)
        return _decided(state, policy.get("fair"), blind, None)[0], state.memory


def _decided(state: State, chosen: policy.Policy, snapshot: Snapshot, memory: Any) -> tuple[Decision, Any]:
    """The decision of a policy, user by user if that is how cores are shared; a SlaqError if it does not fit."""
    if state.fair_users:
        return decide_by_user(snapshot, chosen, memory or {}, state.users)
    decision, memory = chosen.allocate(snapshot, chosen.memory if memory is None else memory)
    check(snapshot, decision)
    return decision, memory

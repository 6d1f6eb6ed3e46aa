"""The step: one event in, the next state and the effects out. Pure, and the same for the same input."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import assert_never

from msgspec.structs import replace

from slaq import policy
from slaq.engine.events import (
    CapacityChanged,
    EpochEnded,
    Event,
    JobChanged,
    JobJoined,
    JobLeft,
    JobReported,
    JobSeen,
    PolicyChanged,
)
from slaq.engine.state import Allocated, Effect, JobLost, PolicyFailed, State, check
from slaq.errors import SlaqError
from slaq.model import Decision, Job, Outlook, Snapshot
from slaq.model.job import checked
from slaq.predict import look_ahead

Predictor = Callable[[Sequence[Job], float], Outlook]
"""predictor(jobs, epoch_s): the outlook of the jobs for the coming epoch."""


def step(state: State, event: Event, predictor: Predictor = look_ahead) -> tuple[State, list[Effect]]:
    """The state after one event, and what the shell has to do about it.

    An event that makes no sense (an unknown policy, a negative weight) raises SlaqError and changes nothing.
    Events about jobs that are not active are ignored: they are late, not wrong.
    """
    return run(state, (event,), predictor)


def run(state: State, events: Iterable[Event], predictor: Predictor = look_ahead) -> tuple[State, list[Effect]]:
    """Several events in a row, for the price of copying the state once."""
    state = replace(state, jobs=dict(state.jobs))
    effects: list[Effect] = []
    for event in events:
        now_s = event.now_s if math.isfinite(event.now_s) else state.now_s
        state = _apply(replace(state, now_s=max(state.now_s, now_s)), event, predictor, effects)
    return state, effects


def replay(
    state: State, events: Iterable[Event], predictor: Predictor = look_ahead
) -> Iterator[tuple[Event, State, list[Effect]]]:
    """Every event of a recording with the state and the effects that followed it."""
    for event in events:
        state, effects = step(state, event, predictor)
        yield event, state, effects


def _apply(state: State, event: Event, predictor: Predictor, effects: list[Effect]) -> State:
    """The next state; `state.jobs` is a private dict of this run and is changed in place."""
    match event:
        case EpochEnded():
            return _decide(_without_silent(state, effects), predictor, effects)
        case CapacityChanged(cores=cores):
            if cores < 0:
                raise SlaqError(f"capacity is {cores} cores; give 0 or more")
            return replace(state, cores=cores)
        case PolicyChanged(policy=name):
            return replace(state, policy=policy.get(name).name)
        case JobLeft(job_id=job_id):
            state.jobs.pop(job_id, None)
        case JobJoined(job=job):
            state.jobs[job.id] = _joined(checked(job), state.jobs.get(job.id), state.now_s)
        case JobReported() | JobSeen() | JobChanged():
            if event.job_id in state.jobs:
                state.jobs[event.job_id] = _updated(state.jobs[event.job_id], event, state.now_s)
        case _:
            assert_never(event)
    return state


def _joined(job: Job, before: Job | None, now_s: float) -> Job:
    if before is None:
        return replace(job, cores=0.0, waited=0, spent_core_s=0.0, counted_core_s=None, ready_core_s=None, seen_s=now_s)
    return replace(
        job,
        history=before.history,
        cores=before.cores,
        waited=before.waited,
        spent_core_s=before.spent_core_s,
        counted_core_s=before.counted_core_s,
        ready_core_s=before.ready_core_s,
        seen_s=now_s,
    )


def _updated(job: Job, event: JobReported | JobSeen | JobChanged, now_s: float) -> Job:
    match event:
        case JobReported(reports=reports, held_core_s=held_core_s):
            history = job.history
            for report in reports:
                history = history.add(report)
            spent = _spent(job, held_core_s)
            ready_core_s = job.ready_core_s if len(job.history) else spent.spent_core_s
            return replace(
                spent,
                history=history,
                seen_s=now_s,
                spent_core_s=0.0,
                counted_core_s=held_core_s,
                ready_core_s=ready_core_s,
            )
        case JobSeen(max_cores=max_cores, held_core_s=held_core_s):
            known = job.max_cores if max_cores is None else max_cores
            return checked(replace(_spent(job, held_core_s), seen_s=now_s, max_cores=known))
        case JobChanged(weight=weight, held=held):
            return checked(
                replace(
                    job,
                    weight=job.weight if weight is None else weight,
                    held=job.held if held is None else held,
                )
            )


def _spent(job: Job, held_core_s: float | None) -> Job:
    """The job with what it has held since its latest report, if it tells.

    Of one that reported before it told, as after a scheduler's restart, counting begins now.
    """
    if held_core_s is None:
        return job
    counted = job.counted_core_s
    if counted is None:
        counted = held_core_s if len(job.history) else 0.0
    return replace(job, spent_core_s=max(held_core_s - counted, 0.0), counted_core_s=counted)


def _without_silent(state: State, effects: list[Effect]) -> State:
    for job in list(state.jobs.values()):
        silent_s = state.now_s - job.seen_s
        if silent_s > state.lease_s:
            del state.jobs[job.id]
            effects.append(JobLost(job.id, silent_s))
    return state


def _decide(state: State, predictor: Predictor, effects: list[Effect]) -> State:
    """One epoch: snapshot, predict, allocate, note what everyone got."""
    elapsed_s = state.now_s - state.decided_s if state.epoch else 0.0
    state = replace(state, epoch=state.epoch + 1, decided_s=state.now_s)
    active = tuple(job for job in state.jobs.values() if not job.held)
    decision = _allocation(state, active, predictor, effects)
    effects.append(Allocated(state.epoch, decision))
    even_share = min(1.0, state.cores / len(active)) * (1.0 - 1e-9) if active else 0.0
    for job in state.jobs.values():
        cores = decision.cores.get(job.id, 0.0)
        state.jobs[job.id] = replace(
            job,
            cores=cores,
            waited=0 if cores >= even_share or job.held else job.waited + 1,
            spent_core_s=job.spent_core_s + (job.cores * elapsed_s if job.counted_core_s is None else 0.0),
        )
    return state


def _allocation(state: State, active: tuple[Job, ...], predictor: Predictor, effects: list[Effect]) -> Decision:
    """The policy's decision; if predictor or policy break, the fair one: no epoch goes without."""
    try:
        decision = policy.get(state.policy).allocate(Snapshot(active, state.cores, predictor(active, state.epoch_s)))
        check(state, decision)
    except Exception as error:  # anything: a scheduler that stops deciding is worse than a plain decision
        effects.append(PolicyFailed(state.epoch, state.policy, f"{type(error).__name__}: {error}"))
        return policy.get("fair").allocate(Snapshot(active, state.cores, look_ahead((), state.epoch_s)))
    return decision

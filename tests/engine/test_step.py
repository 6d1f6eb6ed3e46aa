"""The engine: one event in, the next state and the effects out."""

import math

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaq import policy
from slaq.engine import (
    Allocated,
    CapacityChanged,
    EpochEnded,
    Event,
    JobChanged,
    JobJoined,
    JobLeft,
    JobLost,
    JobReported,
    JobSeen,
    PolicyChanged,
    PolicyFailed,
    State,
    check,
    replay,
    run,
    step,
)
from slaq.errors import SlaqError
from slaq.model import Decision, Iteration, Job
from tests.strategies import reports

names = st.sampled_from(["a", "b", "c", "d", "e"])
times = st.floats(0, 100) | st.sampled_from([math.nan, math.inf, -1.0, 1e18])
events = st.one_of(
    st.builds(JobJoined, times, st.builds(Job, names, weight=st.floats(0.1, 10), ml=st.booleans())),
    st.builds(JobReported, times, names, st.lists(reports, max_size=3).map(tuple), st.none() | st.floats(0, 1e15)),
    st.builds(JobSeen, times, names, st.none() | st.integers(1, 9).map(float), st.none() | st.floats(0, 1e15)),
    st.builds(JobChanged, times, names, st.none() | st.floats(0.1, 10), st.none() | st.booleans()),
    st.builds(JobLeft, times, names),
    st.builds(CapacityChanged, times, st.integers(0, 12)),
    st.builds(PolicyChanged, times, st.sampled_from(policy.names())),
    st.builds(EpochEnded, times),
)


def after(*happened: Event, cores: int = 4, **settings_) -> tuple[State, list]:
    return run(State(cores=cores, **settings_), happened)


def allocated(effects: list) -> dict[str, float]:
    return next(effect for effect in reversed(effects) if isinstance(effect, Allocated)).decision.cores


@given(st.lists(events, max_size=40))
@settings(max_examples=150, deadline=None)
def test_whatever_happens_every_epoch_is_decided_and_the_invariants_hold(happened):
    for event, state, effects in replay(State(cores=4), happened):
        decisions = [effect for effect in effects if isinstance(effect, Allocated)]
        assert len(decisions) == isinstance(event, EpochEnded)
        assert not [effect for effect in effects if isinstance(effect, PolicyFailed)]
        for effect in decisions:
            check(state, effect.decision)


@given(st.lists(events, max_size=25))
@settings(max_examples=80, deadline=None)
def test_a_recording_replays_to_the_identical_decisions(happened):
    recorded = [msgspec.msgpack.encode(event) for event in happened if math.isfinite(event.now_s)]
    read = [msgspec.msgpack.decode(line, type=Event) for line in recorded]
    first = [effects for _, _, effects in replay(State(cores=4), read)]
    assert first == [effects for _, _, effects in replay(State(cores=4), read)]
    state, effects = run(State(cores=4), read)
    assert effects == [effect for batch in first for effect in batch]
    assert state.epoch == sum(isinstance(event, EpochEnded) for event in read)


def test_a_step_leaves_the_state_it_was_given_untouched():
    before, _ = after(JobJoined(0.0, Job("a")))
    held = msgspec.msgpack.encode(before)
    step(before, JobReported(1.0, "a", (Iteration(1.0),)))
    step(before, JobLeft(1.0, "a"))
    step(before, EpochEnded(1.0))
    assert msgspec.msgpack.encode(before) == held


def test_a_job_that_leaves_returns_its_cores_at_the_next_epoch():
    state, effects = after(JobJoined(0.0, Job("a")), JobJoined(0.0, Job("b")), EpochEnded(1.0))
    assert sum(allocated(effects).values()) == 4
    _, effects = run(state, [JobLeft(1.5, "a"), EpochEnded(2.0)])
    assert allocated(effects) == {"b": 4.0}


def test_a_silent_job_is_lost_after_its_lease_and_not_before():
    state, _ = after(JobJoined(0.0, Job("a")), JobJoined(0.0, Job("b")), lease_s=5.0)
    state, effects = run(state, [JobSeen(4.0, "b"), EpochEnded(5.0)])
    assert set(allocated(effects)) == {"a", "b"}
    _, effects = run(state, [EpochEnded(5.5)])
    assert JobLost("a", 5.5) in effects
    assert allocated(effects) == {"b": 4.0}


def test_reports_of_a_job_that_is_not_there_are_late_not_wrong():
    state, effects = after(JobReported(0.0, "gone", (Iteration(1.0),)), JobSeen(0.0, "gone"), JobLeft(0.0, "gone"))
    assert state.jobs == {}
    assert effects == []


def test_joining_again_changes_what_was_declared_and_keeps_the_history():
    state, _ = after(
        JobJoined(0.0, Job("a")), JobReported(1.0, "a", (Iteration(3.0),)), JobJoined(2.0, Job("a", weight=5))
    )
    assert state.jobs["a"].weight == 5
    assert state.jobs["a"].history.losses == (3.0,)


def test_a_held_job_gets_nothing_until_it_is_released():
    state, effects = after(
        JobJoined(0.0, Job("a")), JobJoined(0.0, Job("b")), JobChanged(0.0, "a", held=True), EpochEnded(1.0)
    )
    assert allocated(effects) == {"b": 4.0}
    _, effects = run(state, [JobChanged(1.0, "a", held=False), EpochEnded(2.0)])
    assert allocated(effects)["a"] >= 1


def test_capacity_and_policy_change_with_the_next_epoch():
    joined = [JobJoined(0.0, Job(name)) for name in "ab"]
    state, effects = after(*joined, CapacityChanged(0.5, 6), PolicyChanged(0.5, "fair"), EpochEnded(1.0))
    assert allocated(effects) == {"a": 3.0, "b": 3.0}
    assert state.policy == "fair"


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (PolicyChanged(0.0, "best"), "unknown policy 'best'"),
        (CapacityChanged(0.0, -1), "capacity is -1"),
        (JobJoined(0.0, Job("b", weight=-1)), "weight is -1"),
        (JobChanged(0.0, "a", weight=math.nan), "weight is nan"),
        (JobSeen(0.0, "a", max_cores=0.0), "max_cores is 0"),
    ],
)
def test_an_event_that_makes_no_sense_is_refused_with_its_value(event, message):
    state, _ = after(JobJoined(0.0, Job("a")))
    with pytest.raises(SlaqError, match=message):
        step(state, event)


def test_time_never_goes_back():
    state, _ = after(JobJoined(10.0, Job("a")), JobSeen(3.0, "a"))
    assert state.now_s == 10.0
    assert state.jobs["a"].seen_s == 10.0


def test_a_predictor_that_breaks_costs_the_epoch_its_quality_not_its_decision():
    def broken(jobs, epoch_s):
        raise ZeroDivisionError(f"{len(jobs)} jobs, {epoch_s} s")

    state, _ = after(JobJoined(0.0, Job("a")), JobJoined(0.0, Job("b")))
    _, effects = step(state, EpochEnded(1.0), broken)
    assert effects[0] == PolicyFailed(1, "max-total", "ZeroDivisionError: 2 jobs, 1.0 s")
    assert allocated(effects) == {"a": 2.0, "b": 2.0}


def test_epochs_with_less_than_an_even_share_are_counted_until_one_brings_more():
    state, _ = after(*(JobJoined(0.0, Job(name)) for name in "abc"), cores=2, policy="fifo", lease_s=1e9)
    for epoch in (1.0, 2.0):
        state, _ = step(state, EpochEnded(epoch))
    assert [job.waited for job in state.jobs.values()] == [0, 2, 2]
    state, _ = run(state, [JobLeft(2.5, "a"), EpochEnded(3.0)])
    assert [job.waited for job in state.jobs.values()] == [0, 0]


@pytest.mark.parametrize(
    ("cores", "message"),
    [
        ({"a": 5.0, "b": 1.0}, "6 cores were handed out"),
        ({"a": 3.0, "b": 0.0}, "job 'b' got 0 cores"),
        ({"a": 3.0}, "differ in 'b'"),
        ({"a": 1.0, "b": 1.0, "x": 1.0}, "differ in 'x'"),
        ({"a": math.nan, "b": 1.0}, "nan cores"),
    ],
)
def test_a_decision_that_breaks_an_invariant_is_found_out(cores, message):
    state, _ = after(JobJoined(0.0, Job("a")), JobJoined(0.0, Job("b")))
    with pytest.raises(SlaqError, match=message):
        check(state, Decision("x", cores, {}))


def test_what_a_job_spends_is_what_its_tasks_held_since_its_latest_report_and_not_what_it_was_given():
    def spent(*happened: Event) -> tuple[float, float | None]:
        joined = (JobJoined(0.0, Job("a")), EpochEnded(0.0), JobSeen(0.5, "a", held_core_s=0.2))
        job = after(*joined, EpochEnded(1.0), *happened, EpochEnded(2.0))[0].jobs["a"]
        return job.spent_core_s, job.ready_core_s

    first = JobReported(1.5, "a", (Iteration(1.0),), held_core_s=3.0)
    assert spent() == (pytest.approx(0.2), None)
    assert spent(JobSeen(1.2, "a", held_core_s=2.0)) == (pytest.approx(2.0), None)
    assert spent(first) == (0.0, pytest.approx(3.0))
    assert spent(first, JobSeen(1.7, "a", held_core_s=3.5)) == (pytest.approx(0.5), pytest.approx(3.0))


def test_a_job_that_does_not_tell_what_it_held_spends_what_it_was_given():
    state, _ = after(JobJoined(0.0, Job("a", max_cores=2.0)), EpochEnded(0.0), EpochEnded(1.5))
    assert state.jobs["a"].spent_core_s == pytest.approx(3.0)


def test_of_a_job_that_came_back_with_a_history_counting_begins_anew():
    history = Job("a").history.add(Iteration(1.0))
    state, _ = after(JobJoined(0.0, Job("a", history=history)), JobSeen(0.5, "a", held_core_s=50.0))
    assert state.jobs["a"].spent_core_s == 0.0
    state, _ = run(state, [JobSeen(0.7, "a", held_core_s=51.0)])
    assert state.jobs["a"].spent_core_s == pytest.approx(1.0)

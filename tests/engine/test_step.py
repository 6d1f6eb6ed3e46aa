"""The engine: one event in, the next state and the effects out."""

import io
import math
from typing import get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from slaq import policy, predict
from slaq.engine import (
    Allocated,
    CapacityChanged,
    EpochEnded,
    Event,
    JobEnded,
    JobJoined,
    JobMoved,
    JobReported,
    JobSeen,
    PolicyChanged,
    PolicyFailed,
    PredictorChanged,
    Share,
    SharesChanged,
    State,
    TuningChanged,
    check,
    replay,
    run,
    step,
)
from slaq.engine.log import Epoch, epoch_piece, first_pieces, read, replayed
from slaq.errors import SlaqError
from slaq.model import Decision, Job, Reason, Report, Snapshot, Tuning
from slaq.model.life import Command
from slaq.policy import Policy
from slaq.predict import look_ahead
from tests.strategies import reports

names = st.sampled_from(["a", "b", "c", "d", "e"])
times = st.floats(0, 100) | st.sampled_from([math.nan, math.inf, -1.0, 1e18])
events = st.one_of(
    st.builds(JobJoined, times, st.builds(Job, names, weight=st.floats(0.1, 10), ml=st.booleans())),
    st.builds(JobReported, times, names, st.lists(reports, max_size=3).map(tuple), st.none() | st.floats(0, 1e15)),
    st.builds(JobSeen, times, names, st.none() | st.floats(0, 1e15)),
    st.builds(JobMoved, times, names, st.sampled_from(get_args(Command))),
    st.builds(
        SharesChanged,
        times,
        st.lists(
            st.builds(
                Share, names, st.floats(0.1, 10), st.floats(0, 4), st.sampled_from([1.0, 3.0, math.inf]), st.booleans()
            ),
            max_size=3,
        ).map(tuple),
    ),
    st.builds(TuningChanged, times, epoch_s=st.none() | st.floats(0.1, 9), lease_s=st.none() | st.floats(0.1, 99)),
    st.builds(CapacityChanged, times, st.integers(0, 12)),
    st.builds(PolicyChanged, times, st.sampled_from(policy.names())),
    st.builds(PredictorChanged, times, st.sampled_from(predict.names())),
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
            # Those that were preempted take part: the policy may resume them.
            active = tuple(job for job in state.jobs.values() if job.life.schedulable)
            check(Snapshot(active, state.cores, look_ahead((), 1.0)), effect.decision)
        for job in state.jobs.values():
            assert (job.cores > 0.0) == job.life.granted == (job.life.state == "running")
        assert not any(effect.job.id in state.jobs for effect in effects if isinstance(effect, JobEnded))


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
    step(before, JobReported(1.0, "a", (Report(1.0),)))
    step(before, JobMoved(1.0, "a", "finish"))
    step(before, EpochEnded(1.0))
    assert msgspec.msgpack.encode(before) == held


def test_a_job_that_leaves_returns_its_cores_at_the_next_epoch():
    state, effects = after(JobJoined(0.0, Job("a")), JobJoined(0.0, Job("b")), EpochEnded(1.0))
    assert sum(allocated(effects).values()) == 4
    _, effects = run(state, [JobMoved(1.5, "a", "finish"), EpochEnded(2.0)])
    assert allocated(effects) == {"b": 4.0}
    (ended,) = (effect.job for effect in effects if isinstance(effect, JobEnded))
    assert (ended.id, ended.life.state, ended.life.since_s) == ("a", "finished", 1.5)


def test_a_silent_job_is_lost_after_its_lease_and_not_before():
    state, _ = after(JobJoined(0.0, Job("a")), JobJoined(0.0, Job("b")), lease_s=5.0)
    state, effects = run(state, [JobSeen(4.0, "b"), EpochEnded(5.0)])
    assert set(allocated(effects)) == {"a", "b"}
    _, effects = run(state, [EpochEnded(5.5)])
    assert [(effect.job.id, effect.job.life.state) for effect in effects if isinstance(effect, JobEnded)] == [
        ("a", "lost")
    ]
    assert allocated(effects) == {"b": 4.0}


def test_reports_of_a_job_that_is_not_there_are_late_not_wrong():
    state, effects = after(
        JobReported(0.0, "gone", (Report(1.0),)), JobSeen(0.0, "gone"), JobMoved(0.0, "gone", "fail")
    )
    assert state.jobs == {}
    assert effects == []


def test_joining_again_changes_what_was_declared_and_keeps_the_history():
    state, _ = after(
        JobJoined(0.0, Job("a")), JobReported(1.0, "a", (Report(3.0),)), JobJoined(2.0, Job("a", max_iterations=5))
    )
    assert state.jobs["a"].max_iterations == 5
    assert state.jobs["a"].history.losses == (3.0,)
    assert state.jobs["a"].arrived_s == 0.0


def test_a_share_of_ones_user_is_no_sign_of_life():
    shares = SharesChanged(8.0, (Share("a", 2.0, 1.0, 3.0),))
    state, _ = after(JobJoined(0.0, Job("a")), shares, lease_s=5.0)
    assert (state.jobs["a"].weight, state.jobs["a"].reserved_cores, state.jobs["a"].max_cores) == (2.0, 1.0, 3.0)
    assert step(state, EpochEnded(8.0))[0].jobs == {}


def test_a_job_whose_user_is_over_quota_waits_until_there_is_room():
    def share(over_quota: bool) -> SharesChanged:
        return SharesChanged(1.0, (Share("a", 1.0, 0.0, math.inf, over_quota),))

    state, effects = after(JobJoined(0.0, Job("a")), JobJoined(0.0, Job("b")), share(True), EpochEnded(1.0))
    assert allocated(effects) == {"b": 4.0}
    assert state.jobs["a"].life.state == "over-quota"
    state, effects = run(state, [share(False), EpochEnded(2.0)])
    assert state.jobs["a"].life.state == "running"


def test_a_held_job_gets_nothing_until_it_is_released():
    state, effects = after(
        JobJoined(0.0, Job("a")), JobJoined(0.0, Job("b")), JobMoved(0.0, "a", "hold"), EpochEnded(1.0)
    )
    assert allocated(effects) == {"b": 4.0}
    _, effects = run(state, [JobMoved(1.0, "a", "release"), EpochEnded(2.0)])
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
        (PredictorChanged(0.0, "best"), "unknown predictor 'best'; choose one of learned, weighted-fit"),
        (CapacityChanged(0.0, -1), "capacity is -1"),
        (JobJoined(0.0, Job("b", weight=-1)), "weight is -1"),
        (SharesChanged(0.0, (Share("a", math.nan, 0.0, 1.0),)), "weight is nan"),
        (SharesChanged(0.0, (Share("a", 1.0, 0.0, 0.0),)), "max_cores is 0"),
        (TuningChanged(0.0, epoch_s=0.0), "an epoch of 0.0 s"),
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
    def broken(jobs, epoch_s, tuning):  # noqa: ARG001
        raise ZeroDivisionError(f"{len(jobs)} jobs, {epoch_s} s")

    state, _ = after(JobJoined(0.0, Job("a")), JobJoined(0.0, Job("b")))
    _, effects = step(state, EpochEnded(1.0), lambda _: broken)
    assert effects[0] == PolicyFailed(1, "max-total", "ZeroDivisionError: 2 jobs, 1.0 s")
    assert allocated(effects) == {"a": 2.0, "b": 2.0}


def test_epochs_with_less_than_an_even_share_are_counted_until_one_brings_more():
    state, _ = after(*(JobJoined(0.0, Job(name)) for name in "abc"), cores=2, policy="fifo", lease_s=1e9)
    for epoch in (1.0, 2.0):
        state, _ = step(state, EpochEnded(epoch))
    assert [job.waited for job in state.jobs.values()] == [0, 2, 2]
    state, _ = run(state, [JobMoved(2.5, "a", "finish"), EpochEnded(3.0)])
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
        check(
            Snapshot(tuple(state.jobs.values()), state.cores, look_ahead((), 1.0)),
            Decision("x", cores, {name: Reason("fair", given) for name, given in cores.items()}),
        )


def test_what_a_job_spends_is_what_its_tasks_held_since_its_latest_report_and_not_what_it_was_given():
    def spent(*happened: Event) -> tuple[float, float | None]:
        joined = (JobJoined(0.0, Job("a")), EpochEnded(0.0), JobSeen(0.5, "a", held_core_s=0.2))
        job = after(*joined, EpochEnded(1.0), *happened, EpochEnded(2.0))[0].jobs["a"]
        return job.spent_core_s, job.ready_core_s

    first = JobReported(1.5, "a", (Report(1.0),), held_core_s=3.0)
    assert spent() == (pytest.approx(0.2), None)
    assert spent(JobSeen(1.2, "a", held_core_s=2.0)) == (pytest.approx(2.0), None)
    assert spent(first) == (0.0, pytest.approx(3.0))
    assert spent(first, JobSeen(1.7, "a", held_core_s=3.5)) == (pytest.approx(0.5), pytest.approx(3.0))


def test_a_job_that_does_not_tell_what_it_held_spends_what_it_was_given():
    state, _ = after(JobJoined(0.0, Job("a", max_cores=2.0)), EpochEnded(0.0), EpochEnded(1.5))
    assert state.jobs["a"].spent_core_s == pytest.approx(3.0)


def test_of_a_job_that_came_back_with_a_history_counting_begins_anew():
    history = Job("a").history.add(Report(1.0))
    state, _ = after(JobJoined(0.0, Job("a", history=history)), JobSeen(0.5, "a", held_core_s=50.0))
    assert state.jobs["a"].spent_core_s == 0.0
    state, _ = run(state, [JobSeen(0.7, "a", held_core_s=51.0)])
    assert state.jobs["a"].spent_core_s == pytest.approx(1.0)


def test_tuning_reaches_the_predictor_and_the_policy_and_is_part_of_the_state():
    seen = []

    def predictor(jobs, epoch_s, tuning):
        seen.append((epoch_s, tuning.overdue))
        return look_ahead(jobs, epoch_s, tuning)

    state, _ = after(JobJoined(0.0, Job("a")), TuningChanged(0.0, 2.0, 20.0, Tuning(overdue=1.0)))
    assert (state.epoch_s, state.lease_s, state.tuning.overdue) == (2.0, 20.0, 1.0)
    step(state, EpochEnded(1.0), lambda _: predictor)
    assert seen == [(2.0, 1.0)]


def test_the_predictor_is_part_of_the_state_and_of_the_log():
    asked = []

    def predictors(name):
        asked.append(name)
        return predict.get(name)

    changed = [JobJoined(0.0, Job("a")), PredictorChanged(0.5, "weighted-fit")]
    state, effects = run(State(cores=4), [*changed, EpochEnded(1.0)], predictors)
    assert asked[-1] == state.predictor == "weighted-fit"
    log = io.BytesIO(first_pieces(State(cores=4)) + epoch_piece(Epoch([*changed, EpochEnded(1.0)], effects)))
    ((_, replayed_state, decided),) = replayed(*read(log, "a log"))
    assert (replayed_state.predictor, decided) == ("weighted-fit", effects)


def test_a_predictor_that_is_gone_costs_the_epoch_its_quality_not_its_decision():
    _, effects = after(JobJoined(0.0, Job("a")), EpochEnded(1.0), predictor="gone")
    assert "unknown predictor 'gone'; choose one of learned" in effects[0].error
    assert allocated(effects) == {"a": 4.0}


class Turns(Struct, frozen=True):
    """Whose turn comes next."""

    next: int = 0


def in_turns(snapshot, memory):
    """All cores above the floor to one job after the other."""
    cores = {job.id: 1.0 for job in snapshot.jobs}
    chosen = snapshot.jobs[memory.next % len(snapshot.jobs)].id
    cores[chosen] += snapshot.cores - len(cores)
    reasons = {job_id: Reason("fair", given) for job_id, given in cores.items()}
    return Decision("in-turns", cores, reasons), Turns(memory.next + 1)


@pytest.fixture
def turns(monkeypatch):
    monkeypatch.setitem(policy._BUILT_IN, "in-turns", Policy("in-turns", in_turns, Turns()))


@pytest.mark.usefixtures("turns")
def test_a_policy_remembers_from_one_decision_to_the_next_and_the_log_carries_its_memory():
    joined = [JobJoined(0.0, Job(name)) for name in "ab"]
    state, _ = after(*joined, PolicyChanged(0.0, "in-turns"), EpochEnded(1.0))
    assert [job.cores for job in state.jobs.values()] == [3.0, 1.0]
    logged = io.BytesIO(first_pieces(state) + epoch_piece(Epoch([EpochEnded(2.0)], [])))
    read_state, epochs = read(logged, "a log")
    assert msgspec.msgpack.encode(read_state) == msgspec.msgpack.encode(state)  # histories hold NaN
    assert read_state.memory == Turns(1)
    ((_, after_it, _),) = replayed(read_state, epochs)
    assert [job.cores for job in after_it.jobs.values()] == [1.0, 3.0]
    assert after_it.memory == Turns(2)


@pytest.mark.usefixtures("turns")
def test_another_policy_begins_with_nothing_remembered_and_the_same_one_goes_on():
    state, _ = after(JobJoined(0.0, Job("a")), PolicyChanged(0.0, "in-turns"), EpochEnded(1.0))
    assert step(state, PolicyChanged(1.0, "in-turns"))[0].memory == Turns(1)
    assert step(state, PolicyChanged(1.0, "fair"))[0].memory is None


def test_a_preempted_job_is_shown_as_such_until_the_policy_resumes_it(monkeypatch):
    def preempting(snapshot, memory):
        rule = {"a": "preempted" if snapshot.now_s < 2.0 else "fair"}
        cores = {"a": 0.0 if rule["a"] == "preempted" else 1.0, "b": 1.0}
        return Decision("x", cores, {name: Reason(rule.get(name, "fair"), cores[name]) for name in cores}), memory

    monkeypatch.setitem(policy._BUILT_IN, "x", Policy("x", preempting))
    state, _ = after(*(JobJoined(0.0, Job(name)) for name in "ab"), PolicyChanged(0.0, "x"), EpochEnded(1.0))
    assert [job.life.state for job in state.jobs.values()] == ["preempted", "running"]
    state, _ = step(state, EpochEnded(2.0))
    assert [job.life.state for job in state.jobs.values()] == ["running", "running"]

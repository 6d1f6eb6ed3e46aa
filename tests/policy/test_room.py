"""Room for trials: who makes it, what stays as the policy decided, and that the engine tells and counts it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from slaq import policy
from slaq.engine import (
    Allocated,
    CapacityChanged,
    EpochEnded,
    JobJoined,
    JobMoved,
    JobPreempted,
    JobSeen,
    State,
    check,
    run,
)
from slaq.engine.step import replay
from slaq.model import DEFAULTS, Job, Snapshot, Tuning
from slaq.model.life import Life
from slaq.policy.room import ENOUGH, make_room
from slaq.predict import look_ahead
from tests.strategies import TableOutlook, snapshots

LONG_AGO = Life("running", 0.0, granted=True)
every_policy = pytest.mark.parametrize("name", policy.names())


def old(name, **traits):
    """A best-effort job that has run for long."""
    return Job(name, life=LONG_AGO, **traits)


def decided(*jobs, cores=4, name="fair", now_s=1000.0, tuning=DEFAULTS):
    snap = Snapshot(jobs, cores, look_ahead(jobs, 1.0), now_s, 1.0, tuning)
    chosen = policy.get(name)
    return make_room(snap, chosen.allocate(snap, chosen.memory)[0])


def test_a_trial_takes_what_it_can_use_from_one_job_that_is_enough():
    decision = decided(old("small", max_cores=3.0), old("large"), Job("try", te=True, max_cores=3.0), cores=16)
    assert decision.cores == pytest.approx({"small": 3.0, "large": 10.0, "try": 3.0})  # fair gave it all of that
    jobs = (old("a", max_cores=2.0), old("b"), old("c", weight=3.0), Job("try", te=True, max_cores=4.0))
    decision = decided(*jobs, cores=14)
    assert decision.cores["try"] == pytest.approx(4.0)
    assert [job for job, reason in decision.reasons.items() if reason.by] == ["a"]  # the smallest that is enough
    assert decision.reasons["a"].cores == 0.0  # less than its floor would be left
    assert sum(decision.cores.values()) == pytest.approx(14.0)


def test_on_a_full_small_machine_the_victim_stops_and_says_for_whom():
    decision = decided(old("slow"), Job("try", te=True), cores=2)
    assert decision.cores == {"slow": 0.0, "try": 2.0}
    assert str(decision.reasons["slow"]).startswith("0 cores: preempted by the trial try")
    assert str(decision.reasons["try"]) == "2 cores: a trial, which gets in before best-effort jobs"


def test_a_large_victim_keeps_what_the_trial_leaves():
    decision = decided(
        old("wide"), old("narrow", max_cores=1.0), Job("try", te=True, max_cores=6.0, weight=0.1), cores=16
    )
    assert decision.cores["try"] == pytest.approx(6.0)
    assert decision.cores["wide"] == pytest.approx(9.0)
    assert decision.reasons["wide"].rule == "made-room"
    assert decision.reasons["wide"].by == "try"


def test_where_none_is_enough_alone_the_largest_make_room_until_it_is():
    jobs = (*(old(f"job-{i}", weight=1.0 + i) for i in range(4)), Job("try", te=True))
    decision = decided(*jobs, cores=2)
    assert decision.cores["try"] >= ENOUGH * 2.0
    assert decision.cores["job-3"] == 0.0


@pytest.mark.parametrize(
    "spared",
    [
        old("a", preemptions=3),
        Job("a", life=Life("running", 999.0, granted=True)),
        Job("a"),
        old("a", ml=False),
        old("a", te=True),
        old("a", utility=(1.0, 0.1, 600.0)),
    ],
    ids=["after three times", "just started", "not started", "no loss", "a trial", "has a deadline"],
)
def test_who_never_makes_room(spared):
    trial = Job("try", te=True)
    before = policy.get("fair").allocate(Snapshot((spared, trial), 2, look_ahead((), 1.0), 1000.0), None)[0]
    assert decided(spared, trial, cores=2) == before


def test_a_job_at_its_floor_is_not_asked():
    """Others have its cores: under `fifo` all are with the first job."""
    jobs = (old("first"), *(old(f"job-{i}") for i in range(5)), Job("try", te=True))
    decision = decided(*jobs, cores=2, name="fifo")
    assert [job for job, reason in decision.reasons.items() if reason.by] == ["first"]
    assert decision.cores["try"] >= ENOUGH * 2.0


def test_the_victim_of_a_trial_stays_its_victim_and_new_work_waits_behind_it():
    waits = Life("preempted", 900.0, waits=("preempted",))
    victim = Job("victim", life=waits, preempted_by="try", preemptions=3)
    decision = decided(victim, old("other", arrived_s=10.0), Job("try", te=True, max_cores=2.0), cores=4)
    assert decision.cores["try"] == pytest.approx(2.0)
    new = Job("new", arrived_s=950.0)
    decision = decided(victim, Job("try", te=True), new, cores=3)
    assert decision.cores["new"] == pytest.approx(1.0)  # its floor
    decision = decided(victim, Job("try", te=True, max_cores=2.0), new, cores=6)
    assert decision.cores["victim"] == pytest.approx(2.0)  # there is enough without it
    assert decision.reasons["victim"].by == "try"  # and it would be the one again


def test_trials_are_served_in_order_of_arrival():
    decision = decided(old("slow"), Job("one", te=True, max_cores=2.0), Job("two", te=True), cores=3)
    assert decision.cores == pytest.approx({"slow": 0.0, "one": 2.0, "two": 1.0})


@every_policy
@given(snap=snapshots(), data=st.data())
@settings(max_examples=80, deadline=None)
def test_whatever_the_policy_all_that_it_promises_holds_but_for_victims(name, snap, data):
    classes = data.draw(
        st.lists(st.sampled_from(["", "", "te", "due"]), min_size=len(snap.jobs), max_size=len(snap.jobs))
    )
    lives = st.sampled_from([Life(), LONG_AGO, Life("preempted", 1.0, waits=("preempted",))])
    trials = [job.id for job, kind in zip(snap.jobs, classes, strict=True) if kind == "te"]
    jobs = tuple(
        replace(
            job,
            te=kind == "te",
            utility=(1.0, 0.1, 60.0) if kind == "due" else None,
            life=data.draw(lives),
            preemptions=data.draw(st.integers(0, 4)),
            preempted_by=data.draw(st.sampled_from(["", *trials])),
        )
        for job, kind in zip(snap.jobs, classes, strict=True)
    )
    snap = Snapshot(jobs, snap.cores, snap.outlook, 1000.0, 1.0, Tuning())
    chosen = policy.get(name)
    before = chosen.allocate(snap, chosen.memory)[0]
    after = make_room(snap, before)
    check(snap, after)
    if not trials:
        assert after == before
    assert sum(after.cores.values()) <= sum(before.cores.values()) + 1e-6
    for job in jobs:
        new, reason = after.cores[job.id], after.reasons[job.id]
        assert -1e-9 <= new <= job.max_cores + 1e-9
        if reason.rule in ("preempted", "made-room"):
            assert not job.te
            assert job.ml
            assert job.utility is None
            assert job.preemptions < DEFAULTS.trial_most_preemptions or job.preempted_by == reason.by
        elif reason.rule != "new-work":
            assert new >= before.cores[job.id] - 1e-9


def engine(*happened, cores=2, **settings_):
    return run(State(cores=cores, **settings_), happened)


def epochs(first, last):
    names = ("slow", "try")
    return [
        event for now in range(first, last) for event in (*(JobSeen(now, n) for n in names), EpochEnded(float(now)))
    ]


def test_the_engine_tells_every_preemption_once_and_resumes_when_the_trial_has_ended():
    events = [
        JobJoined(0.0, Job("slow", user="alice")),
        *epochs(1, 6),
        JobJoined(6.0, Job("try", te=True)),
        *epochs(6, 9),
    ]
    state, effects = engine(*events)
    assert [effect for effect in effects if isinstance(effect, JobPreempted)] == [
        JobPreempted(6, "slow", "alice", "try", 0.0, pytest.approx(1.0), 1)
    ]
    assert state.jobs["slow"].life.state == "preempted"
    assert state.jobs["slow"].preemptions == 1
    state, effects = run(state, [JobMoved(9.0, "try", "finish"), *epochs(9, 10)])
    assert state.jobs["slow"].life.state == "running"
    assert state.jobs["slow"].preempted_by == ""
    assert state.jobs["slow"].cores == 2.0


def test_no_job_makes_room_more_often_than_it_has_to():
    events, now = [JobJoined(0.0, Job("slow"))], 1
    for number in range(6):
        trial = f"try-{number}"
        events += [*epochs(now, now + 5), JobJoined(now + 5.0, Job(trial, te=True)), *epochs(now + 5, now + 7)]
        events += [JobMoved(now + 7.0, trial, "finish")]
        now += 7
    state, effects = engine(*events)
    told = [effect.times for effect in effects if isinstance(effect, JobPreempted)]
    assert told == [1, 2, 3]
    assert state.jobs["slow"].preemptions == DEFAULTS.trial_most_preemptions


def test_with_users_that_share_first_a_trial_takes_only_from_its_own_user():
    from slaq.engine import UsersChanged

    joined = [JobJoined(0.0, Job(n, user=u)) for n, u in (("hers", "alice"), ("his", "bob"))]
    seen = [e for now in range(1, 8) for e in (JobSeen(now, "hers"), JobSeen(now, "his"), EpochEnded(float(now)))]
    trial = JobJoined(7.0, Job("try", user="alice", te=True))
    events = [UsersChanged(0.0, True), *joined, *seen, trial, EpochEnded(8.0)]
    state, effects = engine(*events, cores=4)
    (told,) = [effect for effect in effects if isinstance(effect, JobPreempted)]
    assert told.job_id == "hers"
    assert state.jobs["his"].cores == pytest.approx(2.0)


def test_a_deadline_keeps_its_plan_while_a_trial_preempts_below_it():
    """A job with a deadline is a reservation over time towards the others; a trial takes from best-effort jobs only."""
    due = Job("due", utility=(100.0, 0.01, 2500.0), max_cores=2.0)
    joined = [JobJoined(0.0, due), JobJoined(0.0, Job("slow"))]
    alone = engine(*joined, *ticks(1, 8), cores=4, policy="oasis")[1]
    both = engine(*joined, *ticks(1, 5), JobJoined(5.0, Job("try", te=True)), *ticks(5, 8), cores=4, policy="oasis")[1]
    assert cores_of(alone, "due") == cores_of(both, "due")
    last = [effect for effect in both if isinstance(effect, Allocated)][-1].decision
    assert last.reasons["due"].rule in ("promised", "cap")
    assert last.reasons["slow"].by == "try"


def ticks(first, last):
    names = ("due", "slow", "try")
    return [
        event for now in range(first, last) for event in (*(JobSeen(now, n) for n in names), EpochEnded(float(now)))
    ]


def cores_of(effects, job_id):
    return [effect.decision.cores[job_id] for effect in effects if isinstance(effect, Allocated)]


moments = st.floats(0, 60)
names = st.sampled_from(["a", "b", "c", "d"])
happenings = st.one_of(
    st.builds(
        JobJoined,
        moments,
        st.builds(
            Job,
            names,
            te=st.booleans(),
            ml=st.sampled_from([True, True, False]),
            max_cores=st.sampled_from([1.0, 3.0, math.inf]),
            utility=st.none() | st.just((1.0, 0.1, 30.0)),
        ),
    ),
    st.builds(JobMoved, moments, names, st.sampled_from(["finish", "hold", "release", "rest", "work"])),
    st.builds(CapacityChanged, moments, st.integers(0, 6)),
    st.builds(EpochEnded, moments),
)


@given(happened=st.lists(happenings, max_size=40), name=st.sampled_from(policy.names()))
@settings(max_examples=150, deadline=None)
def test_whatever_happens_decisions_hold_and_no_job_is_preempted_too_often(happened, name):
    told: dict[str, int] = {}
    happened = sorted(happened, key=lambda event: event.now_s)
    for event, state, effects in replay(State(cores=4, policy=name, lease_s=1e6), happened):
        for effect in effects:
            assert type(effect).__name__ != "PolicyFailed"
            if isinstance(effect, JobPreempted):
                told[effect.job_id] = effect.times
                assert effect.times <= DEFAULTS.trial_most_preemptions
        if isinstance(event, EpochEnded):
            assert sum(job.cores for job in state.jobs.values()) <= state.cores + 1e-6
            for job in state.jobs.values():
                assert not job.preempted_by or job.preempted_by in state.jobs
    assert run(State(cores=4, policy=name, lease_s=1e6), happened) == run(
        State(cores=4, policy=name, lease_s=1e6), happened
    )


def test_room_among_4000_jobs_costs_a_small_part_of_an_epoch():
    import time

    jobs = (
        *(old(f"job-{i}", max_cores=64.0) for i in range(4000)),
        *(Job(f"try-{i}", te=True, max_cores=64.0) for i in range(8)),
    )
    snap = Snapshot(jobs, 16_000, TableOutlook(np.zeros((4008, 2)), np.zeros((4008, 2))), 1000.0)
    before = policy.get("fair").allocate(snap, None)[0]
    began = time.perf_counter()
    after = make_room(snap, before)
    assert time.perf_counter() - began < 2.0
    assert all(after.cores[f"try-{i}"] >= ENOUGH * 64.0 for i in range(8))

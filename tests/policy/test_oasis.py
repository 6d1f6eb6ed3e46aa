"""`oasis`: who is admitted, what is kept, and what it tells."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaq import policy
from slaq.engine.events import EpochEnded, JobJoined
from slaq.engine.state import State
from slaq.engine.step import run
from slaq.model import Job, Snapshot, Tuning
from slaq.policy.oasis import Memory
from tests.strategies import TableOutlook, decided, snapshots


class Work(TableOutlook):
    """An outlook that knows only the work left."""

    def __init__(self, *core_s):
        super().__init__(np.zeros((len(core_s), 2)), np.zeros((len(core_s), 2)))
        object.__setattr__(self, "core_s", np.array(core_s, dtype=float))

    def work_ahead(self, share):
        return np.ones(len(self.core_s)), self.core_s * share


def due_in(name, seconds, worth=1.0, **traits):
    return Job(name, utility=(worth, 100.0 / seconds, seconds), **traits)


def decide(jobs, cores, work, memory=None, now_s=0.0):
    snapshot = Snapshot(tuple(jobs), cores, Work(*work), now_s, 1.0, Tuning())
    return policy.get("oasis").allocate(snapshot, memory or Memory())


def test_a_deadline_gets_the_cores_it_takes_and_says_so():
    decision, memory = decide([due_in("urgent", 40.0), Job("other")], 8, [210.0, 1000.0])
    assert sum(memory.promises["urgent"].cores) == 21
    assert decision.cores["urgent"] > 4.0
    assert "by its plan; its end is worth" in str(decision.reasons["urgent"])


def test_work_without_a_deadline_has_what_no_plan_takes():
    decision, _ = decide([due_in("slow", 2900.0, max_cores=2.0), Job("other")], 8, [20.0, 1000.0])
    assert decision.cores["other"] >= 6.0


@given(snap=snapshots())
@settings(max_examples=60, deadline=None)
def test_where_nobody_declares_anything_it_decides_as_finish_line_does(snap):
    assert decided("oasis", snap).cores == pytest.approx(decided("finish-line", snap).cores)


def test_a_job_that_comes_too_late_waits_at_its_floor_with_the_price_in_words():
    first = [due_in(f"early-{i}", 100.0, 100.0) for i in range(3)]
    decision, memory = decide([*first, due_in("late", 60.0, 0.01)], 8, [260.0, 260.0, 240.0, 400.0])
    assert "late" not in memory.promises
    assert "late" in memory.refused
    assert decision.cores["late"] >= 1.0
    assert "not admitted" in str(decision.reasons["late"])
    assert "cost" in str(decision.reasons["late"])


def test_a_refused_job_is_admitted_once_there_is_room():
    jobs = [*(due_in(f"early-{i}", 100.0, 100.0) for i in range(3)), due_in("late", 600.0, 0.01)]
    _, memory = decide(jobs, 8, [260.0, 260.0, 240.0, 30_000.0])
    assert "late" in memory.refused  # more work than the whole cluster does within the horizon
    _, memory = decide(jobs[3:], 8, [1000.0], memory, now_s=30.0)
    assert set(memory.promises) == {"late"}
    assert not memory.refused


def test_where_not_all_can_meet_their_targets_who_brings_least_for_a_core_slot_gives_way():
    """First come would be first served by prices alone: they are next to nothing in an empty cluster."""
    jobs = [due_in("idle", 100.0, 0.1), due_in("dear", 100.0, 50.0), due_in("cheap", 100.0, 1.0)]
    decision, memory = decide(jobs, 4, [300.0, 300.0, 300.0])
    assert set(memory.promises) == {"dear"}
    assert decision.reasons["cheap"].rule == "refused"
    _, memory = decide([jobs[0]], 4, [300.0])
    assert set(memory.promises) == {"idle"}
    _, memory = decide(jobs, 12, [300.0, 300.0, 300.0])
    assert set(memory.promises) == {"idle", "dear", "cheap"}


def test_a_job_alone_is_admitted_though_it_cannot_meet_its_target():
    _, memory = decide([Job("late", utility=(1.0, 0.05, 60.0))], 4, [400.0])
    assert set(memory.promises) == {"late"}


def test_an_admission_is_never_withdrawn_though_the_work_turns_out_longer_than_the_horizon():
    job = due_in("a", 100.0)
    _, memory = decide([job], 4, [200.0])
    for now_s, work in ((10.0, 2000.0), (20.0, 1e6), (500.0, 300.0), (5000.0, 300.0)):
        decision, memory = decide([job], 4, [work], memory, now_s)
        assert decision.cores["a"] == pytest.approx(4.0)
        assert "a" in memory.promises


def test_what_a_shorter_job_does_not_need_returns():
    job = due_in("a", 200.0, max_cores=4.0)
    _, before = decide([job], 4, [600.0])
    _, after = decide([job], 4, [100.0], before, now_s=10.0)
    assert sum(before.promises["a"].cores) == 60
    assert sum(after.promises["a"].cores) == 10


def test_plans_of_jobs_that_ended_are_forgotten():
    _, memory = decide([due_in("a", 200.0)], 4, [100.0])
    assert decide([Job("b")], 4, [10.0], memory, 1.0)[1] == Memory()


def test_the_engine_keeps_the_plans_and_replays_to_the_same_decisions():
    joined = [JobJoined(0.0, due_in("a", 300.0)), JobJoined(0.0, Job("b"))]
    events = [*joined, *(EpochEnded(float(now)) for now in range(1, 8))]
    state, effects = run(State(cores=4, policy="oasis"), events)
    assert "a" in state.memory.promises
    assert (state, effects) == run(State(cores=4, policy="oasis"), events)
    assert not any(type(effect).__name__ == "PolicyFailed" for effect in effects)


utilities = st.none() | st.tuples(st.floats(0.1, 100), st.sampled_from([0.0, 0.05, 0.5]), st.floats(0, 500))
worlds = st.lists(st.tuples(utilities, st.floats(1, 5000), st.sampled_from([1.0, 3.0, np.inf])), min_size=1, max_size=7)


@given(world=worlds, cores=st.integers(1, 12), pace=st.lists(st.floats(0.2, 1.5), min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_whatever_the_work_turns_out_to_be_admissions_stay_and_decisions_hold(world, cores, pace):
    jobs = [Job(f"job-{i}", utility=utility, max_cores=most) for i, (utility, _, most) in enumerate(world)]
    work, memory, now_s, admitted = np.array([core_s for _, core_s, _ in world]), Memory(), 0.0, set()
    for part in pace:
        decision, memory = decide(jobs, cores, work, memory, now_s)
        assert admitted <= set(memory.promises)
        assert not set(memory.promises) & set(memory.refused)
        admitted = set(memory.promises)
        assert sum(decision.cores.values()) <= cores + 1e-6
        assert all(decision.cores[job.id] <= job.max_cores + 1e-9 for job in jobs)
        assert all(job.id in admitted | set(memory.refused) for job in jobs if job.utility)
        now_s += 7.0
        work = work * part


@given(world=worlds, cores=st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_plans_together_name_no_more_cores_than_there_are_and_none_more_than_a_job_can_use(world, cores):
    jobs = [Job(f"job-{i}", utility=utility, max_cores=most) for i, (utility, _, most) in enumerate(world)]
    _, memory = decide(jobs, cores, [core_s for _, core_s, _ in world])
    plans = [(job, memory.promises[job.id]) for job in jobs if job.id in memory.promises]
    together = np.zeros(400, dtype=int)
    for job, promise in plans:
        together[: len(promise.cores)] += np.array(promise.cores)
        assert max(promise.cores) <= job.max_cores
        assert promise.value > promise.price
    assert together.max() <= cores


def test_a_job_far_beyond_its_target_is_still_priced():
    decision, memory = decide([due_in("late", 10.0)], 4, [100.0], now_s=1e6)
    assert decision.cores["late"] == pytest.approx(4.0)
    assert set(memory.promises) | set(memory.refused) == {"late"}


def test_a_decision_with_4000_deadlines_on_16000_cores_takes_a_fraction_of_an_epoch():
    rng = np.random.default_rng(3)
    jobs = [due_in(f"job-{i}", float(rng.uniform(100, 3000)), max_cores=64.0) for i in range(4000)]
    work, memory, took = rng.uniform(100, 20_000, 4000), Memory(), []
    for now_s in range(5):
        began = time.perf_counter()
        _, memory = decide(jobs, 16_000, work, memory, float(now_s))
        took.append(time.perf_counter() - began)
    assert len(memory.promises) == 40
    assert np.median(took) < 0.5

"""`oasis`: who is admitted, what is kept, and what it tells."""

import numpy as np
import pytest

from slaq import policy
from slaq.engine.events import EpochEnded, JobJoined
from slaq.engine.state import State
from slaq.engine.step import run
from slaq.model import Job, Snapshot, Tuning
from slaq.policy.oasis import Memory
from tests.strategies import TableOutlook


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

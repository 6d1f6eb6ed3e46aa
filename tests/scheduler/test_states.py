"""The life of a job as the scheduler shows it: its state, its cores, what it has used, how far it has come."""

import logging

import pytest

from slaq import policy
from slaq.config import UserConfig
from slaq.policy.base import Policy
from slaq.protocol import Change, JobBeat
from slaq.scheduler.query import JobQuery
from tests.scheduler.support import APP, Bench, again, job, make_config

KEY = f"{APP}-1"


def state(bench: Bench, key: str = KEY) -> str:
    return bench.scheduler.job(key).job.state


def test_a_job_passes_through_its_states():
    users = {"alice": UserConfig(max_cores=1.0)}
    bench = Bench(make_config(users=users))
    bench.beat(job("0"), job("1", 2.0))
    assert state(bench) == "queued"
    bench.epoch()
    assert state(bench) == "over-quota"
    bench.beat(again("0", ended="finished"), again("1"))
    bench.epoch()
    assert state(bench) == "running"
    bench.beat(JobBeat("1", idle=True))
    assert state(bench) == "idle"
    bench.scheduler.change(KEY, Change(held=True))
    assert state(bench) == "held"
    bench.scheduler.change(KEY, Change(held=False))
    assert state(bench) == "idle"
    bench.beat(again("1"))
    assert state(bench) == "queued"
    bench.epoch()
    assert state(bench) == "running"
    bench.beat(again("1", ended="cancelled"))
    assert state(bench) == "cancelled"


def test_the_status_counts_jobs_by_state():
    bench = Bench()
    bench.beat(job("1"), job("2"), job("3"), job("4", ended="failed"))
    bench.epoch()
    bench.scheduler.change(KEY, Change(held=True))
    bench.beat(job("5"), JobBeat("2", idle=True))
    counted = {name: number for name, number in bench.scheduler.status().jobs.items() if number}
    assert counted == {"held": 1, "idle": 1, "running": 1, "queued": 1, "failed": 1}
    assert [view.id for view in bench.scheduler.jobs(JobQuery(states=("idle",))).jobs] == [f"{APP}-2"]


def test_the_job_of_a_dead_driver_is_lost_while_its_users_other_jobs_come_and_go():
    bench = Bench(make_config(policy="fair", lease_s=5.0))
    bench.beat(job("1", 3.0), app="dead01")
    for second in range(40):
        bench.beat(job(f"{second}", 3.0), *([again(f"{second - 1}", ended="finished")] if second else []))
        bench.epoch()
    assert state(bench, "dead01-1") == "lost"
    assert bench.grants(jobs=("39",)) == {"39": 8.0}


@pytest.mark.parametrize("pause", ["hold", "rest"])
def test_cores_are_counted_up_to_the_moment_a_job_gives_them_back(pause):
    bench = Bench()
    bench.beat(job("1", 3.0))
    bench.epoch(1.0)
    bench.now += 0.5
    if pause == "hold":
        bench.scheduler.change(KEY, Change(held=True))
    else:
        bench.beat(JobBeat("1", idle=True))
    bench.epoch(0.5)
    bench.epoch(1.0)
    assert bench.scheduler.job(KEY).job.core_s == pytest.approx(0.5 * 8.0)


def test_what_a_driver_tells_of_its_tasks_counts_instead_of_what_was_granted():
    bench = Bench()
    bench.beat(job("1", 3.0))
    bench.epoch()
    bench.beat(JobBeat("1", held_core_s=2.5))
    bench.epoch()
    assert bench.scheduler.job(KEY).job.core_s == 2.5


def test_answers_say_how_far_training_jobs_have_come():
    bench = Bench()
    losses = [0.5**k for k in range(12)]
    bench.beat(job("1", *losses, max_iterations=20), job("2"), job("3", ml=False))
    assert bench.beat(again("1")).standings == {}, "nothing is decided yet"
    bench.epoch()
    standings = bench.beat(again("1"), again("2"), again("3")).standings
    assert set(standings) == {"1"}, "only jobs with a loss"
    assert 0.9 < standings["1"].reached <= 1.0
    assert 0.0 <= standings["1"].to_90 <= standings["1"].to_95 <= standings["1"].to_end <= 20.0
    detail = bench.scheduler.job(KEY)
    assert detail.prediction.standing == standings["1"]
    assert detail.job.normalised_loss == 1.0 - standings["1"].reached
    assert bench.scheduler.job(f"{APP}-2").job.normalised_loss is None
    bench.beat(again("1", ended="finished"))
    assert bench.scheduler.job(KEY).prediction.standing == standings["1"], "also when it is over"


@pytest.fixture
def moody(monkeypatch):
    """A policy that breaks while it is told to."""
    fair, errors = policy.get("fair"), []

    def allocate(snapshot, memory):
        if errors:
            raise ValueError(errors[0])
        return fair.allocate(snapshot, memory)

    monkeypatch.setitem(policy._BUILT_IN, "fair-weather", Policy("fair-weather", allocate))
    return errors


def test_a_policy_that_breaks_is_logged_once_shown_and_counted_until_it_decides_again(moody, caplog):
    bench = Bench(make_config(policy="fair-weather"))
    bench.beat(job("1", 3.0))
    bench.epoch()
    assert bench.scheduler.status().problems == []
    moody.append("rain")
    for _ in range(3):
        bench.beat(again("1"))
        bench.epoch()
    (problem,) = bench.scheduler.status().problems
    assert "policy fair-weather failed" in problem
    assert "ValueError: rain" in problem
    assert bench.grants(jobs=("1",)) == {"1": 8.0}, "`fair` decided"
    moody[0] = "snow"
    bench.epoch()
    logged = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert [("rain" in message, "snow" in message) for message in logged] == [(True, False), (False, True)]
    assert bench.scheduler.counters().policy_failures == 4
    moody.clear()
    bench.beat(again("1"))
    bench.epoch()
    assert bench.scheduler.status().problems == []
    assert bench.scheduler.counters().policy_failures == 4


def test_a_declaration_that_the_engine_refuses_leaves_no_ghost():
    bench = Bench()
    answer = bench.beat(job("1", target_loss=float("inf")))
    assert "target_loss is inf" in answer.notice
    assert bench.scheduler.intake.jobs == {}
    bench.beat(job("1", 3.0, max_cores=2.0))
    answer = bench.beat(job("1", target_loss=float("inf")))
    assert "target_loss is inf" in answer.notice
    bench.epoch()
    assert bench.grants(jobs=("1",)) == {"1": 2.0}, "what it declared before stays"
    assert bench.scheduler.counters().rejected_events == 0

"""Deadlines and classes in the scheduler: from a declaration to cores, words and counts."""

import pytest

from slaq.records import Wish
from slaq.scheduler.metrics import Metrics
from slaq.scheduler.store import MemoryArchive
from tests.scheduler.support import APP, Bench, again, job, make_config

KEY = f"{APP}-1"
STEEP = [0.5**k for k in range(8)]


def known(bench, key=KEY):
    return bench.scheduler.recorder.state.jobs[key]


def test_a_deadline_becomes_a_utility_in_seconds_that_is_nearly_whole_at_the_deadline():
    bench = Bench(make_config(policy="oasis"))
    bench.beat(
        job("1", *STEEP, wish=Wish(600.0)), job("2", *STEEP, wish=Wish(None, (3.0, 0.1, 60.0))), job("3", *STEEP)
    )
    bench.epoch()
    assert known(bench).utility == (1.0, 0.5, 610.0)
    assert known(bench, f"{APP}-2").utility == (3.0, 0.1, 60.0)
    assert known(bench, f"{APP}-3").utility is None
    explained = bench.scheduler.job(KEY).explanation
    assert explained.wish == Wish(600.0)
    assert explained.rule in ("promised", "cap")


def test_a_deadline_that_cannot_be_met_waits_at_its_floor_with_the_price_in_words():
    bench = Bench(make_config(policy="oasis", capacity=4))
    others = [
        job(f"due-{i}", *STEEP, wish=Wish(None, (1000.0, 0.01, 3000.0)), max_iterations=100_000) for i in range(3)
    ]
    bench.beat(*others)
    bench.epoch()
    bench.beat(*(again(f"due-{i}") for i in range(3)), job("1", *STEEP, wish=Wish(1.0), max_iterations=100_000))
    bench.epoch()
    detail = bench.scheduler.job(KEY)
    assert detail.explanation.cores >= 1.0
    assert "not admitted" in detail.job.reason


def test_under_a_policy_without_plans_the_application_is_told_what_would_count():
    bench = Bench(make_config(policy="fair"))
    assert "with scheduler.policy = oasis" in bench.beat(job("1", 1.0, wish=Wish(600.0))).notice
    assert bench.beat(again("1")).notice == ""
    assert bench.beat(job("2", 1.0, wish=Wish(kind="te"))).notice == ""


def test_a_deadline_goes_on_counting_through_a_restart_of_the_scheduler():
    archive = MemoryArchive()
    before = Bench(make_config(policy="oasis"), archive)
    before.beat(job("1", *STEEP, wish=Wish(600.0)))
    before.epoch()
    before.epoch(99.0)
    before.scheduler.close()
    after = Bench(make_config(policy="oasis"), archive, incarnation=2)
    after.now = before.now + 20.0
    after.beat(job("1", *STEEP, wish=Wish(600.0)))
    after.epoch()
    assert known(after).utility == (1.0, 0.5, pytest.approx(610.0 - 119.0, abs=1.0))


def test_a_trial_preempts_and_this_is_told_and_counted_by_job_and_user():
    bench = Bench(make_config(policy="fair", capacity=2))
    bench.beat(job("1", *STEEP))
    for _ in range(4):
        bench.epoch()
        bench.beat(again("1"))
    bench.beat(job("try", wish=Wish(kind="te")), app="app0002", user="bob")
    bench.epoch()
    detail = bench.scheduler.job(KEY)
    assert detail.job.state == "preempted"
    assert detail.job.reason.startswith("0 cores: preempted by the trial app0002-try (chosen by its score")
    assert detail.explanation.preemptions == 1
    assert bench.beat(again("1")).grants == {"1": 0.0}
    assert "1" not in bench.beat(again("1")).standby
    assert 'slaq_user_preemptions_total{user="alice"} 1.0' in Metrics(bench.scheduler).text().decode()
    bench.beat(again("try", ended="finished"), app="app0002", user="bob")
    bench.epoch()
    assert bench.scheduler.job(KEY).job.state == "running"
    assert bench.scheduler.job(KEY).explanation.preemptions == 1

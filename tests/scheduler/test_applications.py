"""Cores of whole applications between two decisions: jobs come, go and rest, and the sum stays what was decided."""

from slaq.protocol import Change, JobBeat
from tests.scheduler.support import Bench, again, job, make_config

ONE, TWO = "app0001", "app0002"


def resting(job_id: str = "1") -> JobBeat:
    return JobBeat(job_id, idle=True)


def test_before_the_first_decision_nobody_is_held_to_anything():
    assert Bench().beat(job()).cores is None


def test_an_application_keeps_its_cores_when_one_job_follows_the_other():
    bench = Bench(make_config(policy="fair"))
    bench.beat(job("1"), app=ONE)
    bench.beat(job("1"), app=TWO)
    bench.epoch()
    answer = bench.beat(again("1", ended="finished"), job("2"), app=ONE)
    assert answer.grants == {}, "the new job is not decided yet"
    assert answer.cores == 4.0, "but may use what the other left"
    assert bench.beat(again(), app=TWO).cores == 4.0


def test_a_new_application_gets_at_once_what_is_to_spare():
    bench = Bench()
    bench.beat(job("1", max_cores=3.0), app=ONE)
    bench.epoch()
    assert bench.beat(job("1"), app=TWO).cores == 5.0
    assert bench.beat(job("1"), app="app0003").cores == 1.0, "nothing is to spare any more, but nobody waits for all"
    bench.epoch()
    assert sum(bench.beat(again(), app=app).cores for app in (ONE, TWO, "app0003")) == 8.0


def test_a_new_application_that_asks_again_gets_no_more():
    bench = Bench()
    bench.beat(job(), app=ONE)
    bench.epoch()
    assert [bench.beat(job(), app=TWO).cores for _ in range(3)] == [1.0, 1.0, 1.0]


def test_with_more_jobs_than_cores_a_new_application_waits_for_the_decision():
    bench = Bench()
    bench.beat(*(job(str(number)) for number in range(8)), app=ONE)
    bench.epoch()
    assert bench.beat(job(), app=TWO).cores == 0.0


def test_without_cores_there_is_nothing_to_lend():
    bench = Bench(make_config(capacity="drivers"))
    bench.epoch()
    assert bench.beat(job()).cores == 0.0


def test_the_cores_of_a_job_that_rests_go_to_the_others_and_come_back_with_its_tasks():
    bench = Bench(make_config(policy="fair"))
    bench.beat(job(), app=ONE)
    bench.beat(job(), app=TWO)
    bench.epoch()
    bench.beat(resting(), app=ONE)
    bench.epoch()
    answer = bench.beat(resting(), app=ONE)
    assert (answer.grants, answer.cores) == ({"1": 0.0}, 0.0)
    assert bench.beat(again(), app=TWO).grants == {"1": 8.0}
    assert bench.scheduler.job(f"{ONE}-1").job.reason == "0 cores: it has no task to run"
    assert bench.scheduler.job(f"{ONE}-1").job.state == "idle"
    awake = bench.beat(again(), app=ONE)
    assert (awake.grants, awake.cores) == ({}, 1.0), "it starts as a new job does"
    bench.epoch()
    assert bench.beat(again(), app=ONE).grants == {"1": 4.0}


def test_a_held_job_stays_held_whether_it_rests_or_not():
    bench = Bench()
    bench.beat(job())
    bench.epoch()
    bench.scheduler.change(f"{ONE}-1", Change(held=True))
    bench.beat(resting())
    answer = bench.beat(again())
    assert answer.grants == {"1": 0.0}
    bench.epoch()
    assert bench.beat(again()).grants == {"1": 0.0}
    assert bench.scheduler.job(f"{ONE}-1").job.state == "held"


def test_a_job_that_rests_takes_no_part_of_its_users_cores():
    bench = Bench()
    bench.beat(job("1", reserved_cores=4.0), job("2"))
    bench.beat(resting("1"), again("2"))
    bench.epoch()
    assert bench.beat(resting("1"), again("2")).grants == {"1": 0.0, "2": 8.0}

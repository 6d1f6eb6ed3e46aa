"""Who is to end early and why, and that the driver's JVM is told of it until it has heard."""

import pytest

from slaq.config import BudgetConfig, Config
from slaq.driver.stopping import BY_USER, Stopping
from slaq.driver.tracked import CUSTOM, TrackedJob
from slaq.spark.records import Begin, JobUsage, Loss


class Jvm:
    """A bridge that notes which fits it was asked to stop; `broken` calls fail."""

    def __init__(self, answer="asked", broken=0):
        self.asked, self.answer, self.broken = [], answer, broken

    def stop(self, job, why):
        if self.broken:
            self.broken -= 1
            raise ConnectionError("no gateway")
        self.asked.append((job, why))
        return self.answer


def tracked(job_id="fit-1", estimator="KMeans", began_at=0.0, **more):
    job = TrackedJob(Begin(1, job_id, estimator, uid=f"{estimator}_1", **more), began_at)
    job.loss(Loss(2, job_id, 0, 1.0))
    return job


def carried_out(stopping, *jobs, jvm=None):
    jvm = jvm or Jvm()
    stopping.carry_out(jvm, {job.id: job for job in jobs})
    return jvm.asked


def test_a_fit_is_stopped_once_for_the_first_reason():
    stopping, job, jvm = Stopping(Config()), tracked(), Jvm()
    assert carried_out(stopping, job) == []
    stopping.ask(job.id)
    stopping.ask(job.id, "something else")
    assert stopping.asked(job.id)
    for _ in range(2):
        carried_out(stopping, job, jvm=jvm)
    assert jvm.asked == [("fit-1", BY_USER)]


def test_a_failed_call_is_repeated_with_the_next_turn():
    stopping, job, jvm = Stopping(Config()), tracked(), Jvm(broken=1)
    stopping.ask(job.id)
    with pytest.raises(ConnectionError):
        carried_out(stopping, job, jvm=jvm)
    assert carried_out(stopping, job, jvm=jvm) == [("fit-1", BY_USER)]


def test_of_a_named_job_the_fits_inside_it_are_stopped():
    stopping = Stopping(Config())
    outer, inside, beside = tracked("sweep", CUSTOM), tracked("fit-1", outer="sweep"), tracked("fit-2")
    stopping.ask("sweep")
    assert carried_out(stopping, outer, inside, beside) == [("fit-1", BY_USER)]


def test_a_job_that_is_over_is_forgotten():
    stopping, job = Stopping(Config()), tracked()
    stopping.ask(job.id)
    stopping.forget(job.id)
    assert not stopping.asked(job.id)
    assert carried_out(stopping, job) == []


def test_what_the_jvm_refuses_is_told_to_the_user(caplog):
    stopping, job = Stopping(Config()), tracked()
    stopping.ask(job.id)
    carried_out(stopping, job, jvm=Jvm("its loop is unknown"))
    assert "fit-1 (KMeans_1) cannot be stopped early: its loop is unknown" in caplog.text


def test_a_budget_in_time():
    stopping, job = Stopping(Config(budget=BudgetConfig(time_s=10.0))), tracked(began_at=100.0)
    stopping.consider(job, 109.9)
    assert carried_out(stopping, job) == []
    stopping.consider(job, 110.0)
    assert carried_out(stopping, job) == [("fit-1", "its budget of 10 s is used up")]


def test_a_budget_in_core_seconds():
    stopping, job = Stopping(Config(budget=BudgetConfig(core_time_s=5.0))), tracked()
    job.usage = JobUsage("fit-1", held_s=4.9)
    stopping.consider(job, 1e9)
    assert not stopping.asked(job.id)
    job.usage = JobUsage("fit-1", held_s=5.0)
    stopping.consider(job, 1e9)
    assert carried_out(stopping, job) == [("fit-1", "its budget of 5 core-seconds is used up")]


@pytest.mark.parametrize(("action", "stops"), [("off", False), ("tell", False), ("stop", True)])
def test_a_job_that_is_good_enough_is_stopped_if_the_early_answer_says_so(action, stops):
    stopping, job = Stopping(Config(early_answer=action)), tracked()
    job.good_enough = "its loss 1 has reached the target 1"
    stopping.consider(job, 0.0)
    assert carried_out(stopping, job) == ([("fit-1", job.good_enough)] if stops else [])


def test_a_fit_that_cannot_be_stopped_goes_on_and_its_user_is_told_once(caplog):
    stopping = Stopping(Config(budget=BudgetConfig(time_s=1.0)))
    job = tracked(estimator="ALS", unstoppable="explicit ALS runs all its iterations in one Spark job")
    for _ in range(2):
        stopping.consider(job, 5.0)
    assert not stopping.asked(job.id)
    assert caplog.text.count("fit-1 (ALS_1) should stop (its budget of 1 s is used up) and cannot: explicit ALS") == 1


def test_a_named_job_that_only_waits_for_its_fits_has_no_budget_of_its_own():
    stopping = Stopping(Config(budget=BudgetConfig(time_s=1.0)))
    outer = TrackedJob(Begin(1, "sweep", CUSTOM, name="sweep"), 0.0)
    stopping.consider(outer, 5.0)
    assert not stopping.asked("sweep")

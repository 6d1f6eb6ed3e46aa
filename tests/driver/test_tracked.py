"""What the loop makes of the probe's events: curves, and what each iteration cost."""

import math

import pytest

from slaq.driver.tracked import TrackedJob
from slaq.predict import standing
from slaq.protocol import Report
from slaq.records import Standing, Wish
from slaq.spark.records import Begin, End, JobUsage, Loss


def begin(estimator="KMeans", **more):
    return TrackedJob(Begin(1, "fit-1", estimator, uid="KMeans_1", **more), 0.0)


def begun():
    """A job whose first loss, after a second, is told already."""
    job = begin()
    job.usage = JobUsage("fit-1")
    loss(job, 0, 6.0, 1.0)
    told(job)
    return job


def loss(job, iteration, value, at_s):
    job.loss(Loss(iteration + 2, "fit-1", iteration, value, nanos=int(at_s * 1e9)))


def told(job):
    """The reports that are due now."""
    job.price()
    reports = list(job.reports)
    job.reports.clear()
    return reports


def test_what_the_pool_used_is_divided_by_the_lengths_of_the_iterations():
    job = begun()
    loss(job, 1, 5.0, 2.0)
    loss(job, 2, 4.0, 5.0)
    job.usage = JobUsage("fit-1", held_s=8.0, paused_s=2.0)
    first, second = told(job)
    assert first == Report(5.0, 1, pytest.approx(2.0), pytest.approx(0.5))
    assert second == Report(4.0, 2, pytest.approx(6.0), pytest.approx(1.5))


def test_the_way_to_the_first_loss_says_nothing_of_an_iteration():
    job = begin()
    loss(job, 0, 5.0, 8.0)
    loss(job, 1, 4.0, 10.0)
    job.usage = JobUsage("fit-1", held_s=10.0)
    first, second = told(job)
    assert first == Report(5.0, 0)
    assert second.work_core_s == pytest.approx(2.0)


def test_the_second_iteration_does_not_pay_for_the_preparation_if_no_task_was_heard_of_before_the_first_loss():
    job = begin()
    loss(job, 0, 5.0, 30.0)
    job.usage = JobUsage("fit-1", tasks=0, held_s=60.0, paused_s=3.0)  # Spark's task events lag behind
    assert told(job) == [Report(5.0, 0)]
    loss(job, 1, 4.0, 30.5)
    job.usage = JobUsage("fit-1", tasks=80, held_s=61.0, paused_s=3.1)
    assert told(job) == [Report(4.0, 1, pytest.approx(1.0), pytest.approx(0.1))]


def test_a_job_rests_from_its_last_task_on_also_if_that_came_and_went_unseen():
    job = begin()
    job.usage = JobUsage("fit-1", running=1, tasks=3)
    assert job.active(10.0)
    job.usage = JobUsage("fit-1", tasks=4)
    assert not job.active(11.0)
    assert job.idle_s == 0.0
    assert not job.active(11.5)
    assert job.idle_s == 0.5
    job.usage = JobUsage("fit-1", tasks=5)
    assert not job.active(12.0)
    assert job.idle_s == 0.0


def test_only_what_is_new_counts_the_next_time():
    job = begin()
    loss(job, 0, 5.0, 1.0)
    job.usage = JobUsage("fit-1", held_s=1.0)
    told(job)
    loss(job, 1, 4.0, 3.0)
    job.usage = JobUsage("fit-1", held_s=5.0, paused_s=0.5)
    assert told(job) == [Report(4.0, 1, pytest.approx(4.0), pytest.approx(0.5))]
    assert told(job) == []


def test_the_cost_of_a_job_without_a_pool_is_not_known():
    job = begin()
    for iteration in range(3):
        loss(job, iteration, 5.0 - iteration, iteration + 1.0)
    assert told(job) == [Report(5.0, 0), Report(4.0, 1), Report(3.0, 2)]


def test_tasks_in_a_python_worker_cost_the_slots_they_hold():
    job = begun()
    loss(job, 1, 5.0, 3.0)
    job.usage = JobUsage("fit-1", tasks=8, cpu_s=0.3, held_s=4.0)
    assert told(job)[0].work_core_s == pytest.approx(4.0)


def test_a_report_stays_until_the_agent_has_it():
    job = begun()
    loss(job, 1, 5.0, 3.0)
    job.price()
    job.price()
    assert [report.iteration for report in job.reports] == [1]


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_a_diverged_loss_reaches_the_scheduler_but_not_the_curve(value):
    job = begin()
    loss(job, 0, 5.0, 1.0)
    loss(job, 1, value, 2.0)
    assert told(job)[1].loss is None
    assert (job.status().losses, job.status().iteration) == ((5.0,), 1)


def test_an_iterative_estimator_trains_from_the_start_anything_else_from_its_first_loss_on():
    assert begin(convergence="linear").declaration(1.0, 0.0, math.inf).ml
    job = begin(convergence="none")
    assert not job.declaration(1.0, 0.0, math.inf).ml
    loss(job, 0, 5.0, 1.0)
    assert job.declaration(1.0, 0.0, math.inf).ml


@pytest.mark.parametrize("aim", [{"max_iterations": 60}, {"target_loss": 0.3}])
def test_a_loop_that_declares_what_it_is_after_trains_from_the_start(aim):
    assert begin("custom", **aim).declaration(1.0, 0.0, math.inf).ml
    assert not begin("custom").declaration(1.0, 0.0, math.inf).ml
    assert not begin(convergence="none", **aim).declaration(1.0, 0.0, math.inf).ml


def test_how_long_a_fit_may_last_is_told_if_the_estimator_says_it():
    assert begin(params={"maxIter": 60}).declaration(1.0, 0.0, math.inf).max_iterations == 60
    assert begin(params={"maxIter": None}).declaration(1.0, 0.0, math.inf).max_iterations is None
    assert begin(params={"maxIter": 1.5}).declaration(1.0, 0.0, math.inf).max_iterations is None


def test_more_cores_than_partitions_are_of_no_use():
    job = begin(weight=2.0)
    job.usage = JobUsage("fit-1", partitions=6)
    declared = job.declaration(1.5, 0.0, 8.0)
    assert (declared.max_cores, declared.weight) == (6.0, 3.0)
    job.usage = JobUsage("fit-1", partitions=16)
    assert job.declaration(1.0, 0.0, 8.0).max_cores == 8.0


def test_a_fit_inherits_what_was_declared_of_the_job_around_it():
    outer = TrackedJob(Begin(1, "sweep", "custom", name="sweep", weight=2.0, target_loss=0.3, group="search"), 0.0)
    fit = begin()
    fit.inherit(outer)
    declared = fit.declaration(1.0, 0.0, math.inf)
    assert (declared.name, declared.weight, declared.target_loss) == ("sweep/KMeans_1", 2.0, 0.3)
    assert declared.group == fit.status().group == "search"


@pytest.mark.parametrize(("ok", "state"), [(True, "ended"), (False, "failed")])
def test_the_end_is_known(ok, state):
    job = begin()
    job.end(End(2, "fit-1", ok, None if ok else "boom", 5_000_000_000))
    assert (job.status().state, job.status().elapsed_s) == (state, 5.0)


class TestStanding:
    def trained(self):
        job = begin(params={"maxIter": 50})
        for iteration in range(12):
            loss(job, iteration, 0.7**iteration, 10.0 + 2.0 * iteration)
        return job

    def test_is_the_schedulers_if_there_is_one(self):
        job = self.trained()
        job.standing = Standing(reached=0.8, to_90=2.0, to_95=5.0, to_end=40.0)
        shown = job.status()
        assert (shown.reached, shown.iterations_to_90, shown.iterations_to_95) == (0.8, 2.0, 5.0)
        assert shown.seconds_to_95 == pytest.approx(10.0)

    def test_is_estimated_from_the_losses_by_the_same_definition_otherwise(self):
        job = self.trained()
        expected = standing(job.losses, 50)
        shown = job.status()
        assert (shown.reached, shown.iterations_to_95) == (expected.reached, expected.to_95)

    def test_the_way_to_the_first_loss_is_no_part_of_the_pace(self):
        job = begin()
        loss(job, 0, 5.0, 100.0)
        assert job.status().seconds_to_95 is None
        loss(job, 1, 4.0, 101.0)
        job.standing = Standing(0.5, 1.0, 3.0, 9.0)
        assert job.status().seconds_to_95 == pytest.approx(3.0)


def test_a_fit_inside_a_named_job_has_what_is_left_of_its_time():
    outer = TrackedJob(Begin(1, "named", wish=Wish(600.0, None, "te")), 100.0)
    inner = TrackedJob(Begin(2, "fit-1", "KMeans"), 220.0)
    inner.inherit(outer)
    assert inner.declaration(1.0, 0.0, math.inf, Wish(30.0)).wish == Wish(480.0, None, "te")

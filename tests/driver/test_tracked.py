"""What the loop makes of the probe's events: curves, and what each iteration cost."""

import math

import pytest

from slaq.driver.tracked import TrackedJob
from slaq.spark.records import JobUsage


def begin(**more):
    return TrackedJob({"event": "begin", "job": "fit-1", "estimator": "KMeans", "uid": "KMeans_1"} | more, 0.0)


def begun():
    """A job whose first loss, after a second, is told already."""
    job = begin()
    loss(job, 0, 6.0, 1.0)
    job.costs()
    return job


def loss(job, iteration, value, at_s):
    job.loss({"iteration": iteration, "value": value, "nanos": int(at_s * 1e9)})


def test_what_the_pool_used_is_shared_out_by_the_length_of_iterations():
    job = begun()
    loss(job, 1, 5.0, 2.0)
    loss(job, 2, 4.0, 5.0)
    job.usage = JobUsage("fit-1", tasks=8, held_s=8.0)
    first, second = job.costs()
    assert (first["wall_s"], second["wall_s"]) == (1.0, pytest.approx(3.0))
    assert (first["cpu_s"], second["cpu_s"]) == (pytest.approx(2.0), pytest.approx(6.0))
    assert first["cores"] == second["cores"] == pytest.approx(2.0)


def test_what_it_took_to_get_to_the_first_loss_says_nothing_of_an_iteration():
    job = begin()
    loss(job, 0, 5.0, 8.0)
    loss(job, 1, 4.0, 10.0)
    job.usage = JobUsage("fit-1", tasks=8, held_s=10.0)
    first, second = job.costs()
    assert first == {"loss": 5.0, "iteration": 0}
    assert second["cpu_s"] == pytest.approx(2.0)


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
    job.usage = JobUsage("fit-1", tasks=4, held_s=1.0)
    job.costs()
    loss(job, 1, 4.0, 3.0)
    job.usage = JobUsage("fit-1", tasks=8, held_s=5.0)
    (report,) = job.costs()
    assert (report["cpu_s"], report["cores"]) == (pytest.approx(4.0), pytest.approx(2.0))
    assert job.costs() == []


def test_a_cost_that_spark_has_not_told_yet_is_unknown_and_not_lost():
    job = begun()
    loss(job, 1, 5.0, 2.0)
    assert job.costs()[0]["cpu_s"] is None
    loss(job, 2, 4.0, 3.0)
    job.usage = JobUsage("fit-1", tasks=8, held_s=4.0)
    assert job.costs()[0]["cpu_s"] == pytest.approx(4.0)


def test_tasks_that_work_outside_the_jvm_cost_the_slots_they_hold():
    job = begun()
    loss(job, 1, 5.0, 3.0)
    job.usage = JobUsage("fit-1", tasks=8, cpu_s=0.3, held_s=4.0)
    assert job.costs()[0]["cpu_s"] == pytest.approx(4.0)


def test_the_pauses_of_a_driver_are_time_that_no_core_shortens():
    job = begun()
    loss(job, 1, 5.0, 5.0)
    job.usage = JobUsage("fit-1", tasks=8, held_s=4.0, paused_s=2.0)
    (report,) = job.costs()
    assert report["cores"] == pytest.approx(2.0)
    assert report["wall_s"] - report["cpu_s"] / report["cores"] == pytest.approx(2.0)


def test_a_diverged_loss_reaches_the_scheduler_but_not_the_curve():
    job = begin()
    loss(job, 0, 5.0, 1.0)
    loss(job, 1, None, 2.0)
    assert math.isnan(job.costs()[1]["loss"])
    assert (job.status().losses, job.status().iteration) == ((5.0,), 1)


def test_an_iterative_estimator_trains_from_the_start_anything_else_from_its_first_loss_on():
    assert begin(convergence="linear").declaration(1.0, 0.0, math.inf).ml
    job = begin(convergence="none")
    assert not job.declaration(1.0, 0.0, math.inf).ml
    loss(job, 0, 5.0, 1.0)
    assert job.declaration(1.0, 0.0, math.inf).ml


@pytest.mark.parametrize("aim", [{"params": {"maxIter": 60}}, {"target_loss": 0.3}])
def test_a_loop_that_says_what_it_is_after_trains_from_the_start(aim):
    assert begin(estimator="custom", **aim).declaration(1.0, 0.0, math.inf).ml
    assert not begin(estimator="custom").declaration(1.0, 0.0, math.inf).ml
    assert not begin(convergence="none", **aim).declaration(1.0, 0.0, math.inf).ml


def test_how_long_a_fit_may_last_is_told_if_the_estimator_says_it():
    assert begin(params={"maxIter": 60}).declaration(1.0, 0.0, math.inf).max_iterations == 60
    assert begin(params={"maxIter": None}).declaration(1.0, 0.0, math.inf).max_iterations is None


def test_more_cores_than_partitions_are_of_no_use():
    job = begin(weight=2.0)
    job.usage = JobUsage("fit-1", partitions=6)
    declared = job.declaration(1.5, 0.0, 8.0)
    assert (declared.max_cores, declared.weight) == (6.0, 3.0)
    job.usage = JobUsage("fit-1", partitions=16)
    assert job.declaration(1.0, 0.0, 8.0).max_cores == 8.0


@pytest.mark.parametrize(("ok", "state"), [(True, "ended"), (False, "failed")])
def test_the_end_is_known(ok, state):
    job = begin()
    job.end({"ok": ok, "error": None if ok else "boom", "nanos": 5_000_000_000})
    assert (job.status().state, job.status().elapsed_s) == (state, 5.0)

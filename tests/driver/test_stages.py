"""What the stages under way still need, and what is told of a fit to compare it with past ones."""

import pytest

from slaq.driver.stages import StagesUnderWay
from slaq.driver.traits import known_traits
from slaq.records import MOST_PARAMS, Traits
from slaq.spark.records import JobUsage


def test_nothing_is_foreseen_before_a_task_has_ended():
    assert StagesUnderWay().due_core_s(JobUsage("fit-1", running=2, pending=6, stages=1)) is None


def test_the_tasks_left_take_as_long_as_those_that_ended_and_running_ones_are_halfway():
    stages = StagesUnderWay()
    usage = JobUsage("fit-1", running=2, pending=4, stages=1, tasks=2, run_s=1.0)
    assert stages.due_core_s(usage) == pytest.approx(0.5 * (4 + 1))


def test_a_new_stage_is_taken_for_the_earlier_ones_until_one_of_its_own_tasks_has_ended():
    stages = StagesUnderWay()
    stages.due_core_s(JobUsage("fit-1", stages=1, tasks=4, run_s=2.0))
    begun = JobUsage("fit-1", pending=8, stages=2, tasks=4, run_s=2.0)
    assert stages.due_core_s(begun) == pytest.approx(0.5 * 8)
    one = JobUsage("fit-1", pending=7, stages=2, tasks=5, run_s=5.0)
    assert stages.due_core_s(one) == pytest.approx(3.0 * 7)


def test_between_two_stages_nothing_is_due():
    assert StagesUnderWay().due_core_s(JobUsage("fit-1", stages=3, tasks=9, run_s=9.0)) == 0.0


def test_traits_are_what_shapes_the_cost_of_a_fit():
    params = {
        "k": 20, "tol": 1e-4, "initMode": "random", "standardization": True, "seed": 42, "maxIter": 30,
        "featuresCol": "features", "weightCol": None, "nan": float("nan"), "long": "x" * 41,
    }  # fmt: skip
    usage = JobUsage("fit-1", partitions=4, task_bytes=123_456)
    kept = {"initMode": "random", "k": 20.0, "standardization": True, "tol": 1e-4}
    assert known_traits(params, usage) == Traits(kept, partitions=4.0, bytes=490_000.0)
    assert known_traits(params, JobUsage("fit-1")) == Traits(kept)


def test_no_more_parameters_are_told_than_a_beat_takes():
    assert len(known_traits({f"p{i}": i for i in range(100)}, JobUsage("fit-1")).params) == MOST_PARAMS

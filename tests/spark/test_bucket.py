"""The token bucket behind every share, at made-up times."""

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SECOND = 10**9


@pytest.fixture
def bucket(spark: SparkSession) -> Callable[..., Any]:
    """Call methods of a new bucket, for tasks of one core, by name; it is not public in Java."""
    gateway: Any = spark.sparkContext._gateway

    def array(values: tuple[float, ...]) -> Any:
        made = gateway.new_array(gateway.jvm.java.lang.Object, len(values))
        for place, value in enumerate(values):
            made[place] = value
        return made

    owner = gateway.jvm.java.lang.Class.forName("io.slaq.bridge.Bucket")
    constructor = owner.getDeclaredConstructors()[0]
    constructor.setAccessible(True)
    made = constructor.newInstance(array((1.0, 10.0, 0)))
    methods = {method.getName(): method for method in owner.getDeclaredMethods()}

    def call(name: str, *values: float) -> Any:
        methods[name].setAccessible(True)
        return methods[name].invoke(made, array(values))

    return call


def test_a_bucket_in_debt_opens_in_the_future(bucket: Callable[..., Any]) -> None:
    bucket("setRate", 0, 1.0, 1.0)
    bucket("draw", 0, 2.0)
    bucket("setRate", SECOND, 4.0, 1.0)  # a core-second of debt
    bucket("draw", SECOND, -1.0)
    assert not bucket("bears", SECOND, 0)
    assert bucket("refillsAt", SECOND) == pytest.approx(SECOND + SECOND / 3, rel=0.001)


def test_what_ran_when_the_rate_was_cut_does_not_bar_a_job_for_minutes(bucket: Callable[..., Any]) -> None:
    bucket("setRate", 0, 0.05, 1.0)
    bucket("draw", 0, 8.0)
    bucket("draw", 30 * SECOND, -8.0)
    bucket("setRate", 30 * SECOND, 1.0, 1.0)
    assert bucket("refillsAt", 30 * SECOND) == pytest.approx(40 * SECOND, rel=0.001)


def test_a_small_rate_is_charged_a_long_task_in_full(bucket: Callable[..., Any]) -> None:
    bucket("setRate", 0, 0.05, 1.0)
    bucket("draw", 0, 1.0)
    bucket("draw", 10 * SECOND, -1.0)
    assert bucket("refillsAt", 10 * SECOND) == pytest.approx(200 * SECOND, rel=0.001)

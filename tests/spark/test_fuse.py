"""What goes wrong three times in one place inside the bridge makes it leave; Spark's work goes on."""

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import SparkSession

from slaq.bench._tasks import sleep_tasks, wait_until
from slaq.spark.bridge import Bridge

pytestmark = pytest.mark.spark


def set_field(owner: Any, field: str, value: Any) -> Callable[[], None]:
    """Set a private field of a Java object; returns a function that mends it."""
    declared = owner.getClass().getDeclaredField(field)
    declared.setAccessible(True)
    before = declared.get(owner)
    declared.set(owner, value)

    def mend() -> None:
        declared.set(owner, before)

    return mend


def field(owner: Any, name: str) -> Any:
    declared = owner.getClass().getDeclaredField(name)
    declared.setAccessible(True)
    return declared.get(owner)


def pools(spark: SparkSession) -> dict[str, str]:
    root = spark.sparkContext._jsc.sc().taskScheduler().rootPool()
    return {child.name(): child.getClass().getName() for child in root.schedulableQueue().toArray()}


def stock(spark: SparkSession) -> bool:
    """Whether all pools are Spark's own; other tests in the same session may have left some."""
    found = pools(spark)
    return "default" in found and set(found.values()) == {"org.apache.spark.scheduler.Pool"}


def test_three_faults_in_one_place_take_the_bridge_out_in_the_middle_of_a_stage(
    spark: SparkSession, bridge: Bridge
) -> None:
    pool = spark.sparkContext._jsc.sc().taskScheduler().rootPool().getSchedulableByName("default")
    mend = set_field(pool, "claim", None)
    try:
        sleep_tasks(spark, 40, 20)
    finally:
        mend()
    wait_until(lambda: stock(spark), 10)
    faults = bridge.poll().counters.faults
    assert faults["task start"] >= 3
    sleep_tasks(spark, 10, 5)
    assert bridge.poll().counters.faults == faults, "it is out, nothing fails any more"
    assert bridge.grant({"default": 0.1}, lease_s=5) == 0, "and holds nobody"
    again = Bridge.install(spark, strict=True)
    sleep_tasks(spark, 10, 5)
    assert again.poll().counters.faults == {}, "a bridge that is installed anew starts afresh"
    assert "(slaq)" in pools(spark)


def test_an_error_in_a_listener_does_not_stop_the_context(spark: SparkSession, bridge: Bridge) -> None:
    """Spark stops the context when anything but an exception leaves a listener, such as an error of linking."""
    jvm: Any = spark._jvm
    usages = field(field(bridge._java, "installation"), "usages")
    invoke = jvm.java.lang.invoke
    error = jvm.java.lang.Class.forName("java.lang.NoSuchMethodError")
    runnable = jvm.java.lang.Class.forName("java.lang.Runnable")
    void = jvm.java.lang.Class.forName("java.lang.Void").getField("TYPE").get(None)
    throws = invoke.MethodHandles.throwException(void, error).bindTo(jvm.java.lang.NoSuchMethodError("missing"))
    mend = set_field(usages, "executorsChanged", invoke.MethodHandleProxies.asInterfaceInstance(runnable, throws))
    bus = spark.sparkContext._jsc.sc().listenerBus()
    try:
        for _ in range(2):
            bus.post(jvm.org.apache.spark.scheduler.SparkListenerExecutorRemoved(0, "none", "a test"))
        bus.waitUntilEmpty()
    finally:
        mend()
    assert bridge.poll().counters.faults["executor event"] == 2
    assert not spark.sparkContext._jsc.sc().isStopped()
    assert spark.range(10).count() == 10
    assert "(slaq)" in pools(spark), "two faults are borne"

"""Eight slots and pools of the user's own: free slots are handed out one by one, in one order."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.ml.classification import LogisticRegression
from pyspark.sql import SparkSession

from slaq.bench._tasks import keep_busy, sleep_tasks, wait_until
from slaq.spark.bridge import Bridge
from slaq.spark.jar import launch_conf
from slaq.spark.records import Begin, Grant
from tests.spark import training_data
from tests.spark.conftest import QUIET

pytestmark = pytest.mark.spark

SLOTS = 8
POOLS = """<allocations>
  <pool name="gold"><weight>3</weight><minShare>2</minShare></pool>
  <pool name="plain"><weight>1</weight></pool>
  <pool name="slaq"><weight>5</weight></pool>
</allocations>"""


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """`local[8]` with a user's file of pools."""
    pools = tmp_path_factory.mktemp("pools") / "fairscheduler.xml"
    Path(pools).write_text(POOLS)
    own = {"spark.scheduler.allocation.file": str(pools)}
    builder = SparkSession.builder.master(f"local[{SLOTS}]").appName("slaq-tests")
    for key, value in {**QUIET, **launch_conf(strict=True), **own}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    sleep_tasks(session, SLOTS, 1)
    yield session
    session.stop()


@contextmanager
def in_pool(spark: SparkSession, name: str) -> Iterator[None]:
    """This thread's jobs run in a pool of the user's own."""
    spark.sparkContext.setLocalProperty("spark.scheduler.pool", name)
    try:
        yield
    finally:
        spark.sparkContext.setLocalProperty("spark.scheduler.pool", None)


@contextmanager
def in_background(*works: Callable[[], None]) -> Iterator[None]:
    """Threads, joined at the end."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join()


def running(bridge: Bridge, job: str) -> int:
    return next((usage.running for usage in bridge.poll().jobs if usage.job == job and not usage.ended), 0)


def pending(bridge: Bridge, job: str) -> int:
    return next((usage.pending for usage in bridge.poll().jobs if usage.job == job and not usage.ended), 0)


def private(owner: Any, name: str) -> Any:
    """A private field of a Java object."""
    field = owner.getClass().getDeclaredField(name)
    field.setAccessible(True)
    return field.get(owner)


def set_slots(spark: SparkSession, bridge: Bridge, slots: int) -> None:
    """As if executors had come or gone."""
    gateway: Any = spark.sparkContext._gateway
    pools = private(bridge._java, "pools")
    (method,) = [m for m in pools.getClass().getDeclaredMethods() if m.getName() == "executorsChanged"]
    method.setAccessible(True)
    values = gateway.new_array(gateway.jvm.java.lang.Object, 1)
    values[0] = slots
    method.invoke(pools, values)


def test_nobody_borrows_before_all_that_pay_are_served(spark: SparkSession, bridge: Bridge) -> None:
    bridge.set_strict(False)

    def work(job: str) -> Callable[[], None]:
        def run() -> None:
            with bridge.job(job):
                bridge.grant({job: 0.0}, lease_s=60)
                sleep_tasks(spark, 16, 1000)

        return run

    with in_background(work("a"), work("b")):
        wait_until(lambda: pending(bridge, "a") == 16 and pending(bridge, "b") == 16, 30)
        bridge.grant({"a": 4.0, "b": 4.0}, lease_s=60)
        wait_until(lambda: running(bridge, "a") + running(bridge, "b") == SLOTS, 10)
        assert (running(bridge, "a"), running(bridge, "b")) == (4, 4)


def test_tasks_on_executors_that_are_going_leave_no_debt(spark: SparkSession, bridge: Bridge) -> None:
    bridge.set_strict(False)
    with keep_busy(bridge, ["guest"], lambda: sleep_tasks(spark, 80, 20)):
        bridge.grant({"guest": 0.01}, lease_s=60)
        with bridge.job("going"):
            bridge.grant({"going": Grant(8.0, standby=0), "guest": Grant(0.01, standby=1)}, lease_s=60)
            try:
                with in_background(lambda: set_slots(spark, bridge, 2)):
                    sleep_tasks(spark, SLOTS, 3000)
                before, started = bridge.poll().job("guest").held_s, time.perf_counter()
                time.sleep(2.0)
                held = bridge.poll().job("guest").held_s - before
                assert held / (time.perf_counter() - started) > 1.0, "lent at once"
            finally:
                set_slots(spark, bridge, SLOTS)


def test_pool_names_are_used_again(spark: SparkSession, bridge: Bridge) -> None:
    status = spark.sparkContext._jsc.sc().statusStore().store()
    pool_data = spark._jvm.java.lang.Class.forName("org.apache.spark.status.PoolData")
    before = status.count(pool_data)
    for number in range(300):
        with bridge.job(f"fit-like-{number}"):
            spark.sparkContext.parallelize([1], 1)._jrdd.rdd().count()
    wait_until(lambda: bridge.poll().counters.stages_tracked == 0, 30)
    assert status.count(pool_data) <= before + 4
    ended = {usage.job for usage in bridge.poll().jobs if usage.ended}
    assert {f"fit-like-{number}" for number in range(300)} <= ended, "usages keep the id of their job"


def test_a_thread_that_outlives_its_job_goes_home(spark: SparkSession, bridge: Bridge) -> None:
    jsc = spark.sparkContext._jsc
    with in_pool(spark, "plain"), bridge.job("over"):
        inherited = jsc.sc().getLocalProperties().clone()
    wait_until(lambda: all(usage.ended for usage in bridge.poll().jobs if usage.job == "over"), 10)
    before = bridge.poll().job("plain").tasks
    jsc.sc().setLocalProperties(inherited)
    try:
        with_bridge = bridge.job("next")
        sleep_tasks(spark, 3, 1)
        with with_bridge:
            pass
    finally:
        jsc.sc().setLocalProperties(spark._jvm.java.util.Properties())
    wait_until(lambda: bridge.poll().job("plain").tasks == before + 3, 10)


def test_pools_of_the_user_and_fits_in_them_keep_weight_and_min_share(spark: SparkSession, bridge: Bridge) -> None:
    root = spark.sparkContext._jsc.sc().taskScheduler().rootPool()
    with in_pool(spark, "gold"), bridge.job("in-gold"):
        pool = root.getSchedulableByName(bridge.poll().job("in-gold").pool)
        assert (pool.weight(), pool.minShare()) == (3, 2)

    def hungry(pool: str, job: str | None, stop: threading.Event) -> Callable[[], None]:
        def run() -> None:
            with in_pool(spark, pool):
                while not stop.is_set():
                    if job is None:
                        sleep_tasks(spark, 100, 20)
                    else:
                        with bridge.job(job):
                            sleep_tasks(spark, 100, 20)

        return run

    for first, second in (("gold", "plain"), ("fit-in-gold", "fit-in-plain")):
        stop = threading.Event()
        fits = first.startswith("fit")
        works = [hungry("gold", first if fits else None, stop), hungry("plain", second if fits else None, stop)]
        seen: list[int] = []
        with in_background(*works, *works):
            try:
                wait_until(lambda one=first, two=second: running(bridge, one) > 0 and running(bridge, two) > 0, 30)
                for _ in range(100):
                    both = (running(bridge, first), running(bridge, second))
                    if sum(both) == SLOTS:
                        seen.append(both[0])
                    time.sleep(0.01)
            finally:
                stop.set()
        assert 5.0 < sum(seen) / len(seen) < 7.0, f"three to one: {seen}"


def test_a_fit_tells_the_weight_of_the_pool_it_began_in(spark: SparkSession, bridge: Bridge) -> None:
    data = training_data.points(spark)
    acked = bridge.poll().complete
    with in_pool(spark, "gold"):
        LogisticRegression(maxIter=1).fit(data)
    LogisticRegression(maxIter=1).fit(data)
    begins = [event for event in bridge.poll(acked).events if isinstance(event, Begin)]
    assert [(begin.outer, begin.weight) for begin in begins] == [("gold", 3.0), (None, None)]


def test_a_pool_of_the_user_may_be_called_slaq(spark: SparkSession, bridge: Bridge) -> None:
    root = spark.sparkContext._jsc.sc().taskScheduler().rootPool()
    with in_pool(spark, "slaq"):
        sleep_tasks(spark, 2, 1)
    wait_until(lambda: bridge.poll().job("slaq").tasks == 2, 10)
    assert root.getSchedulableByName("slaq").weight() == 5, "found by Spark under its name"
    bridge.close()
    assert root.getSchedulableByName("slaq").weight() == 5
    Bridge.install(spark, strict=True)


def test_speculative_copies_are_tasks_to_start(spark: SparkSession, bridge: Bridge) -> None:
    def straggling() -> None:
        with bridge.job("straggling"):
            sleep_tasks(spark, 2, 3000)

    with in_background(straggling):
        wait_until(lambda: running(bridge, "straggling") == 2, 10)
        assert pending(bridge, "straggling") == 0
        root = spark.sparkContext._jsc.sc().taskScheduler().rootPool()
        task_set = root.getSchedulableByName(bridge.poll().job("straggling").pool).schedulableQueue().peek()
        task_set.speculatableTasks().add(0)  # as Spark does on a cluster; the local mode never speculates
        assert pending(bridge, "straggling") == 1


def test_a_barrier_stage_starts_beside_many_short_tasks(spark: SparkSession, bridge: Bridge) -> None:
    bridge.set_strict(False)
    with keep_busy(bridge, ["short"], lambda: sleep_tasks(spark, 200, 20), threads_per_job=2):
        bridge.grant({"short": Grant(6.0, standby=0)}, lease_s=90)
        with bridge.job("barrier"):
            bridge.grant({"barrier": 2.0}, lease_s=90)
            numbers = spark.sparkContext.parallelize(range(SLOTS), SLOTS).barrier().mapPartitions(lambda rows: rows)
            started = time.perf_counter()
            assert sorted(numbers.collect()) == list(range(SLOTS))
            assert time.perf_counter() - started < 20, "slots are drained for it"


def test_a_malformed_grant_is_not_half_applied(bridge: Bridge) -> None:
    bridge.open_pool("good")
    try:
        with pytest.raises(Exception, match="'bad\tx' is none"):
            bridge._java.grant("good\t1.0\t0\t1.0\t0\nbad\tx", 10.0, float("nan"))
        assert bridge.poll().job("good").cores is None
    finally:
        bridge.close_pool("good")


def test_offers_are_asked_for_only_where_a_slot_stays_free(spark: SparkSession, bridge: Bridge) -> None:
    bridge.set_strict(False)
    with keep_busy(bridge, ["left", "right"], lambda: sleep_tasks(spark, 100, 20), threads_per_job=2):
        bridge.grant({"left": 1.0, "right": 1.0}, lease_s=60)
        wait_until(lambda: running(bridge, "left") + running(bridge, "right") == SLOTS, 20)
        before = bridge.poll()
        time.sleep(2.0)
        after = bridge.poll()
    tasks = sum(after.job(job).tasks - before.job(job).tasks for job in ("left", "right"))
    assert after.counters.revivals - before.counters.revivals < 0.2 * tasks

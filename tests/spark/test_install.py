"""The bridge enters and leaves a running Spark without trace, in every way it can be started."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from pyspark.ml.classification import LogisticRegression
from pyspark.ml.feature import VectorAssembler
from pyspark.sql import SparkSession

from slaq.bench._tasks import sleep_tasks, wait_until
from slaq.spark.attach import reason
from slaq.spark.bridge import Bridge
from slaq.spark.load import DetachedBridge

pytestmark = pytest.mark.spark


def pool_names(spark: SparkSession) -> list[str]:
    root = spark.sparkContext._jsc.sc().taskScheduler().rootPool()
    return sorted(child.name() for child in root.schedulableQueue().toArray())


def test_installing_twice_gives_one_bridge(spark: SparkSession, bridge: Bridge) -> None:
    names = pool_names(spark)
    again = Bridge.install(spark, strict=True)
    assert pool_names(spark) == names
    with bridge.job("one"):
        assert "one" in {usage.job for usage in again.poll().jobs}


def test_closing_restores_stock_pools_and_installing_again_works(spark: SparkSession, bridge: Bridge) -> None:
    bridge.close()
    bridge.close()
    assert pool_names(spark) == ["default"]
    scheduler = spark.sparkContext._jsc.sc().taskScheduler()
    assert (
        scheduler.rootPool().getSchedulableByName("default").getClass().getName() == "org.apache.spark.scheduler.Pool"
    )
    sleep_tasks(spark, 4, 1)
    assert Bridge.install(spark, strict=True).poll().counters.slots == 2
    assert pool_names(spark) == ["(slaq)", "default"]
    sleep_tasks(spark, 4, 1)


def test_a_fit_that_outlives_the_bridge_gives_its_thread_the_old_pool_back(spark: SparkSession, bridge: Bridge) -> None:
    nap = "length(java_method('java.lang.Thread', 'sleep', 20L)) * 0 + id"
    slow = spark.range(40).selectExpr(f"double({nap}) a", "double(id % 2) label")
    data = VectorAssembler(inputCols=["a"], outputCol="features").transform(slow)

    def fit() -> str | None:
        LogisticRegression(maxIter=2).fit(data)
        pool: str | None = spark.sparkContext.getLocalProperty("spark.scheduler.pool")
        return pool

    with ThreadPoolExecutor(1) as thread:
        left = thread.submit(fit)
        wait_until(lambda: any(u.job.startswith("fit-") and u.running for u in bridge.poll().jobs), 30)
        bridge.close()
        assert left.result() is None
    Bridge.install(spark, strict=True)


def test_a_bridge_off_the_class_path_is_loaded_once(spark: SparkSession) -> None:
    assert DetachedBridge(spark)._class is DetachedBridge(spark)._class


def test_the_reason_of_a_refusal_is_its_exception() -> None:
    assert reason("Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nException in main: no\n  at x") == "Exception in main: no"
    assert reason("killed") == "killed"
    assert reason("") == "no message"


LATE = """
import json, threading, time
from pyspark.sql import SparkSession
from slaq.bench._tasks import keep_busy, sleep_tasks, wait_until
from slaq.spark.bridge import Bridge
from slaq.spark.load import bridge_class
from slaq.spark.records import Grant

spark = SparkSession.builder.master("local[8]").config("spark.ui.enabled", "false").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
sleep_tasks(spark, 8, 1)
bridge_class(spark)  # attaches the agent, which takes a second or more
running = threading.Thread(target=lambda: sleep_tasks(spark, 160, 250))
running.start()
tracker = spark.sparkContext.statusTracker()
wait_until(lambda: any(tracker.getStageInfo(s).numActiveTasks for s in tracker.getActiveStageIds()), 20)

bridge = Bridge.install(spark, strict=True)  # FIFO, a stage half done, no jar on the class path
adopted = bridge.poll().job("default")
with keep_busy(bridge, ["capped"], lambda: sleep_tasks(spark, 40, 20)):
    bridge.grant({"capped": Grant(cores=2.0, cap=2)}, lease_s=30)
    time.sleep(0.3)
    running.join()
    peak = 0
    for _ in range(150):
        peak = max(peak, bridge.poll().job("capped").running)
        time.sleep(0.004)
leaving = threading.Thread(target=lambda: sleep_tasks(spark, 200, 100))
leaving.start()
wait_until(lambda: bridge.poll().job("default").running == 8, 20)
bridge.close()
leaving.join()
root = spark.sparkContext._jsc.sc().taskScheduler().rootPool()
print(json.dumps({
    "adopted": adopted.running, "peak": peak, "gate": bridge.poll().counters.gate,
    "faults": bridge.poll().counters.faults, "left": root.schedulableQueue().size(), "running": root.runningTasks(),
}))
spark.stop()
"""


@pytest.mark.slow
def test_a_running_fifo_context_is_entered_and_left_while_stages_run(run_driver: Callable[..., str]) -> None:
    seen = json.loads(run_driver(LATE).strip().splitlines()[-1])
    assert seen["adopted"] > 0, "the tasks that ran already moved into the new pool"
    assert seen["gate"], "the agent was attached to the running JVM"
    assert seen["peak"] == 2, "eight free slots and a cap of two"
    assert (seen["left"], seen["running"], seen["faults"]) == (0, 0, {})


CLUSTER = """
import json, time
from pyspark.sql import SparkSession
from slaq.bench._tasks import keep_busy, sleep_tasks, wait_until
from slaq.spark.bridge import Bridge
from slaq.spark.jar import launch_conf

builder = SparkSession.builder.master("local-cluster[2,1,512]").config("spark.ui.enabled", "false")
for key, value in {**launch_conf(strict=True), "spark.executor.memory": "512m", "spark.slaq.enabled": "false"}.items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
sleep_tasks(spark, 20, 20)
scheduler = spark.sparkContext._jsc.sc().taskScheduler()
untouched = str(scheduler.schedulingMode()) == "FIFO" and scheduler.rootPool().schedulableQueue().isEmpty()
bridge = Bridge.install(spark, strict=True)
with keep_busy(bridge, ["big", "small"], lambda: sleep_tasks(spark, 60, 30), threads_per_job=2):
    bridge.grant({"big": 1.5, "small": 0.5}, lease_s=200)
    wait_until(lambda: all(bridge.poll().job(job).tasks > 0 for job in ("big", "small")), 60)
    for seconds in (4, 8, 16):  # a busy machine can spoil a measurement
        before = bridge.poll()
        time.sleep(seconds)
        wait_until(lambda: bridge.poll().job("big").tasks - before.job("big").tasks > 50, 60)
        after = bridge.poll()
        held = {job: after.job(job).held_s - before.job(job).held_s for job in ("big", "small")}
        share = held["big"] / sum(held.values())
        if abs(share - 0.75) <= 0.04:
            break
print(json.dumps({"share": share, "untouched": untouched, "slots": after.counters.slots,
                  "faults": after.counters.faults, "plugins": spark.conf.get("spark.plugins", "none")}))
spark.stop()
"""


@pytest.mark.slow
def test_shares_hold_on_a_cluster_whose_executors_have_no_jar(run_driver: Callable[..., str]) -> None:
    seen = json.loads(run_driver(CLUSTER).strip().splitlines()[-1])
    assert seen["untouched"], "spark.slaq.enabled=false: the plugin changes nothing"
    assert seen["slots"] == 2
    assert seen["share"] == pytest.approx(0.75, abs=0.04)
    assert seen["faults"] == {}

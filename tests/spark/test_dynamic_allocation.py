"""Dynamic allocation follows the application's total: throttled tasks are no reason for more executors."""

import json
from collections.abc import Callable

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PROGRAM = """
import json, time
from pyspark.sql import SparkSession
from slaq.bench._tasks import keep_busy, sleep_tasks, wait_until
from slaq.spark.bridge import Bridge
from slaq.spark.jar import launch_conf

conf = {
    **launch_conf(),
    "spark.slaq.enabled": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.maxExecutors": "2",
    "spark.dynamicAllocation.executorIdleTimeout": "1s",
}
builder = SparkSession.builder.master("local-cluster[2,1,512]")
for key, value in conf.items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("OFF")
bridge = Bridge.install(spark)
tracker = spark.sparkContext._jsc.sc().statusTracker()

def executors():
    return len(tracker.getExecutorInfos()) - 1  # the driver is among them

def most(seconds):
    end, seen = time.time() + seconds, []
    while time.time() < end:
        seen.append(executors())
        time.sleep(0.05)
    return max(seen)

with keep_busy(bridge, ["a"], lambda: sleep_tasks(spark, 4, 1500)):
    bridge.grant({}, lease_s=100, total_cores=1.0)
    wait_until(lambda: bridge.poll().job("a").running == 1, 60)
    held = most(3.0)
    bridge.grant({}, lease_s=100, total_cores=2.0)
    up = wait_until(lambda: executors() == 2, 60)
    bridge.grant({}, lease_s=100, total_cores=1.0)
    down = wait_until(lambda: executors() == 1, 60)
    bridge.grant({}, lease_s=0.1, total_cores=1.0)
    free = wait_until(lambda: executors() == 2, 60)  # the lease has ended: no total is in force
poll = bridge.poll()
print(json.dumps({"held": held, "up": up, "down": down, "free": free, "faults": poll.counters.faults,
                  "running": [usage.running for usage in poll.jobs]}))
spark.stop()
"""


def test_executors_come_and_go_with_the_total(run_driver: Callable[..., str]) -> None:
    seen = json.loads(run_driver(PROGRAM).strip().splitlines()[-1])
    assert seen["held"] == 1, "three more tasks wait, and one core is all there is for them"
    assert max(seen["up"], seen["down"], seen["free"]) < 30
    assert seen["faults"] == {}
    assert not any(seen["running"])

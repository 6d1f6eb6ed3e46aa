"""Pools of `fairscheduler.xml` and streaming queries live beside training that is held to a share."""

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.ml.classification import LogisticRegression
from pyspark.sql import SparkSession

from slaq.bench._tasks import keep_busy, sleep_tasks, wait_until
from slaq.spark.bridge import Bridge
from slaq.spark.jar import launch_conf
from tests.spark import training_data
from tests.spark.conftest import QUIET

pytestmark = pytest.mark.spark

XML = """<?xml version="1.0"?>
<allocations>
  <pool name="reports"><schedulingMode>FAIR</schedulingMode><weight>3</weight><minShare>1</minShare></pool>
</allocations>
"""


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    file = tmp_path_factory.mktemp("conf") / "fairscheduler.xml"
    file.write_text(XML)
    conf = {**QUIET, **launch_conf(strict=True), "spark.scheduler.allocation.file": file.as_uri()}
    builder = SparkSession.builder.master("local[2]").appName("slaq-tests")
    for key, value in conf.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def pool(spark: SparkSession, name: str) -> Any:
    return spark.sparkContext._jsc.sc().taskScheduler().rootPool().getSchedulableByName(name)


def described(pool: Any) -> tuple[str, int, int]:
    return str(pool.schedulingMode()), pool.weight(), pool.minShare()


def test_configured_pools_keep_what_they_were_given(spark: SparkSession) -> None:
    before = described(pool(spark, "reports"))
    bridge = Bridge.install(spark, strict=True)
    assert before == described(pool(spark, "reports")) == ("FAIR", 3, 1)
    spark.sparkContext.setLocalProperty("spark.scheduler.pool", "reports")
    try:
        sleep_tasks(spark, 6, 5)
    finally:
        spark.sparkContext.setLocalProperty("spark.scheduler.pool", None)
    wait_until(lambda: bridge.poll().job("reports").tasks == 6, 10)
    bridge.close()
    stock = pool(spark, "reports")
    assert described(stock) == before
    assert (stock.getClass().getSimpleName(), stock.runningTasks()) == ("Pool", 0)


def test_a_streaming_query_goes_on_beside_training(spark: SparkSession, bridge: Bridge) -> None:
    points = training_data.points(spark).cache()
    spark.sparkContext.setLocalProperty("spark.scheduler.pool", "stream")
    rates = spark.readStream.format("rate").option("rowsPerSecond", 20).load()
    query = rates.writeStream.format("memory").queryName("rates").trigger(processingTime="200 milliseconds").start()
    spark.sparkContext.setLocalProperty("spark.scheduler.pool", None)
    try:
        with keep_busy(bridge, ["busy"], lambda: sleep_tasks(spark, 10, 20)):
            bridge.grant({"busy": 1.0, "stream": 0.5}, lease_s=100)
            model = LogisticRegression(maxIter=5).fit(points)
            wait_until(lambda: query.lastProgress is not None and query.lastProgress["batchId"] >= 3, 40)
    finally:
        query.stop()
    assert query.exception() is None
    assert spark.table("rates").count() > 0
    assert model.numFeatures > 0
    wait_until(lambda: not any(usage.running for usage in bridge.poll().jobs), 10)
    poll = bridge.poll()
    assert poll.counters.faults == {}
    assert poll.job("stream").tasks > 0

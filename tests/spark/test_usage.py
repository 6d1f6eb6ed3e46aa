"""What a poll tells about the use of each job, from Spark's own events."""

import threading
import time

import pytest
from pyspark.ml.classification import LogisticRegression
from pyspark.ml.feature import VectorAssembler
from pyspark.sql import SparkSession

from slaq.bench._tasks import burn_tasks, calibrate, sleep_tasks, wait_until
from slaq.spark.bridge import Bridge
from slaq.spark.records import Begin, JobUsage

pytestmark = pytest.mark.spark


def final_usage(bridge: Bridge, job: str) -> JobUsage:
    """The last word about a job that has ended."""
    found: list[JobUsage] = []
    wait_until(lambda: bool(found.extend(u for u in bridge.poll().jobs if u.job == job and u.ended) or found), 30)
    return found[0]


def test_tasks_records_time_and_width_of_a_job(spark: SparkSession, bridge: Bridge) -> None:
    rows = calibrate(spark, 50)
    with bridge.job("counted"):
        burn_tasks(spark, 6, rows)
    usage = final_usage(bridge, "counted")
    assert (usage.tasks, usage.failed_tasks, usage.stages, usage.partitions) == (6, 0, 1, 6)
    assert usage.records == 6 * rows
    assert 0 < usage.cpu_s <= usage.run_s * 1.2 + 0.1
    assert usage.run_s <= usage.held_s * 1.05 + 0.05, "a slot is held while its task runs, and a little longer"


def test_running_and_pending_tasks_are_seen_while_a_job_runs(spark: SparkSession, bridge: Bridge) -> None:
    def body() -> None:
        with bridge.job("seen"):
            sleep_tasks(spark, 8, 200)

    thread = threading.Thread(target=body)
    thread.start()
    seen: list[JobUsage] = []

    def at_work() -> bool:
        seen.extend(u for u in bridge.poll().jobs if u.job == "seen" and u.running == 2 and 0 < u.pending <= 6)
        return bool(seen)

    wait_until(at_work, 30)
    thread.join()


def test_the_last_usage_of_a_pool_comes_again_until_it_is_acknowledged(spark: SparkSession, bridge: Bridge) -> None:
    with bridge.job("over"):
        sleep_tasks(spark, 2, 1)
    usage = final_usage(bridge, "over")
    assert final_usage(bridge, "over") == usage
    poll = bridge.poll(usage.seq - 1, max_events=0)
    assert [u for u in poll.jobs if u.job == "over"] == [usage]
    assert not [u for u in bridge.poll(usage.seq).jobs if u.job == "over"]


def test_work_outside_any_job_is_the_default_pools(spark: SparkSession, bridge: Bridge) -> None:
    before = bridge.poll().job("default").tasks
    sleep_tasks(spark, 5, 1)
    wait_until(lambda: bridge.poll().job("default").tasks == before + 5, 30)


def test_a_failing_job_is_counted_and_its_pool_goes_too(spark: SparkSession, bridge: Bridge) -> None:
    with bridge.job("broken"), pytest.raises(Exception, match="no such thing"):
        spark.range(4).selectExpr("raise_error('no such thing')").collect()
    assert final_usage(bridge, "broken").failed_tasks >= 1


def test_every_fit_runs_in_a_pool_of_its_own(spark: SparkSession, bridge: Bridge) -> None:
    data = spark.range(2000).selectExpr("double(id % 7) a", "double(id % 3) b", "double(id % 2) label").repartition(2)
    points = VectorAssembler(inputCols=["a", "b"], outputCol="features").transform(data).cache()
    points.count()
    acked = bridge.poll(max_events=1 << 16).complete
    LogisticRegression(maxIter=5).fit(points)
    begun = [event for event in bridge.poll(acked).events if isinstance(event, Begin)]
    assert [event.estimator for event in begun] == ["LogisticRegression"]
    usage = final_usage(bridge, begun[0].job)
    assert usage.tasks >= 10, "two partitions, five iterations and more"
    assert spark.sparkContext.getLocalProperty("spark.scheduler.pool") is None
    points.unpersist()


def test_the_time_between_two_stages_is_a_pause_waiting_for_cores_is_none(spark: SparkSession, bridge: Bridge) -> None:
    with bridge.job("rests"):
        sleep_tasks(spark, 2, 50)
        before = bridge.poll().job("rests").paused_s
        time.sleep(0.6)
        bridge.grant({"rests": 0.5}, lease_s=60)
        sleep_tasks(spark, 2, 300)  # one after the other, and the second only when half a core has paid for the first
        paused_s = bridge.poll().job("rests").paused_s - before
    assert 0.6 <= paused_s < 0.9

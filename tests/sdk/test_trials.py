"""A trial among training loops on real Spark: the victim's pool starts no task until the trial has ended."""

import threading
import time

import pytest

import slaq
from slaq.scheduler.query import JobQuery
from tests.driver.session import start

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PLENTY_S = 60.0


@pytest.fixture(scope="module")
def spark():
    session = start()
    yield session
    slaq.detach()
    session.stop()


def iterate(spark, job):
    """One iteration of four short tasks."""
    spark.sparkContext.parallelize(range(4), 4).foreach(lambda _: time.sleep(0.03))
    slaq.report(1.0 / (job.iteration + 3))


def until(condition):
    ends = time.monotonic() + PLENTY_S
    while not (found := condition()):
        assert time.monotonic() < ends, "waited in vain"
        time.sleep(0.02)
    return found


def test_a_trial_stops_the_best_effort_job_which_goes_on_afterwards(spark):
    from pyspark import InheritableThread

    enough, loop = threading.Event(), []

    def slow():
        with slaq.job("slow", max_iterations=10_000) as job:
            loop.append(job)
            while not enough.is_set():
                iterate(spark, job)

    with slaq.attach(spark, epoch_s=0.2, lease_s=5.0, policy="fair", progress=False) as attachment:
        scheduler = attachment.connection.embedded.scheduler
        bridge = attachment.loop.bridge

        def state():
            return {job.name: job.state for job in scheduler.jobs(JobQuery()).jobs}.get("slow")

        thread = InheritableThread(target=slow)
        thread.start()
        try:
            until(lambda: loop and loop[0].iteration > 2)
            time.sleep(2.5)  # one that has just begun is left alone
            with slaq.job("try", kind="te", max_iterations=40) as trial:
                iterate(spark, trial)
                until(lambda: iterate(spark, trial) or state() == "preempted")
                until(lambda: iterate(spark, trial) or not bridge.poll().job("slow").running)
                before = bridge.poll().job("slow").tasks
                for _ in range(8):
                    iterate(spark, trial)
                assert bridge.poll().job("slow").tasks == before
                (view,) = [job for job in scheduler.jobs(JobQuery()).jobs if job.name == "slow"]
                assert "preempted by the trial" in view.reason
            reached = loop[0].iteration
            until(lambda: loop[0].iteration > reached + 2)
            until(lambda: state() == "running")
        finally:
            enough.set()
            thread.join(PLENTY_S)

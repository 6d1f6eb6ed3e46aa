"""A job's pool holds the job to its grant, no less and no more, and disappears with it.

A machine that is busy with other things can spoil any one measurement, so those that miss are made again, for longer;
how exactly shares are held is for `slaq bench share` to say.
"""

import statistics
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from pyspark.sql import SparkSession

from slaq.bench._tasks import keep_busy, sleep_tasks, wait_until
from slaq.errors import SlaqError
from slaq.spark.bridge import Bridge
from slaq.spark.records import Grant

pytestmark = pytest.mark.spark


def hungry(spark: SparkSession, bridge: Bridge, *jobs: str, task_ms: int = 20) -> AbstractContextManager[None]:
    """Jobs that want every slot all the time, with tasks that sleep: exact on a busy machine too."""
    return keep_busy(bridge, list(jobs), lambda: sleep_tasks(spark, 2000 // task_ms, task_ms), threads_per_job=2)


def held_over(bridge: Bridge, *jobs: str, seconds: float) -> dict[str, float]:
    """Average cores held by each job over a stretch of time, longer where the machine is too busy for 50 tasks."""
    wait_until(lambda: all(bridge.poll().job(job).tasks > 0 for job in jobs), 60)
    before, started = bridge.poll(), time.perf_counter()

    def enough() -> bool:
        launched = sum(bridge.poll().job(job).tasks - before.job(job).tasks for job in jobs)
        return time.perf_counter() - started > seconds and launched >= 50

    wait_until(enough, 60)
    after, elapsed = bridge.poll(), time.perf_counter() - started
    return {job: (after.job(job).held_s - before.job(job).held_s) / elapsed for job in jobs}


def assert_holds(measure: Callable[[float], float], low: float, high: float, seconds: float) -> None:
    """Measure over some seconds and, where that misses, over twice and four times as many."""
    measured: list[float] = []
    for patience in (1, 2, 4):
        measured.append(measure(patience * seconds))
        if low <= measured[-1] <= high:
            return
    raise AssertionError(f"never between {low} and {high}: {measured}")


def assert_cores(bridge: Bridge, job: str, low: float, high: float, seconds: float) -> None:
    """The job holds that many cores on average."""
    assert_holds(lambda seconds: held_over(bridge, job, seconds=seconds)[job], low, high, seconds)


def assert_share(bridge: Bridge, job: str, other: str, low: float, high: float, seconds: float) -> None:
    """The first of two jobs holds that part of what both hold."""

    def share(seconds: float) -> float:
        held = held_over(bridge, job, other, seconds=seconds)
        return held[job] / sum(held.values())

    assert_holds(share, low, high, seconds)


def test_a_job_without_a_grant_uses_every_slot(spark: SparkSession, bridge: Bridge) -> None:
    with hungry(spark, bridge, "free", task_ms=50):
        assert_cores(bridge, "free", 1.5, 2.05, seconds=1)


def test_a_granted_job_holds_its_fraction_of_a_core(spark: SparkSession, bridge: Bridge) -> None:
    with hungry(spark, bridge, "half"):
        bridge.grant({"half": 0.5}, lease_s=90)
        assert_cores(bridge, "half", 0.44, 0.56, seconds=3)


def test_two_jobs_share_three_to_one(spark: SparkSession, bridge: Bridge) -> None:
    with hungry(spark, bridge, "big", "small"):
        bridge.grant({"big": 1.5, "small": 0.5}, lease_s=90)
        assert_share(bridge, "big", "small", 0.72, 0.78, seconds=4)


def test_debt_is_carried_over_long_tasks(spark: SparkSession, bridge: Bridge) -> None:
    with hungry(spark, bridge, "slow", task_ms=400):
        bridge.grant({"slow": Grant(0.5, burst_s=0.1)}, lease_s=90)
        wait_until(lambda: bridge.poll().job("slow").tokens < -0.1, 10)
        assert bridge.poll().job("slow").running <= 2
        wait_until(lambda: bridge.poll().job("slow").running == 0, 10)
        assert bridge.poll().job("slow").tokens < 0, "in debt, hence shut although nothing runs"


def test_the_cap_on_concurrent_tasks_is_exact(spark: SparkSession, bridge: Bridge) -> None:
    peaks = []
    with hungry(spark, bridge, "capped"):
        bridge.grant({"capped": Grant(cores=2.0, cap=1)}, lease_s=90)
        wait_until(lambda: bridge.poll().job("capped").running == 1, 10)
        for _ in range(200):
            peaks.append(bridge.poll().job("capped").running)
            time.sleep(0.005)
    assert bridge.poll().counters.gate
    assert max(peaks) == 1
    assert sum(peaks) / len(peaks) > 0.5, "a freed slot is offered again at once"


def test_a_changed_grant_shows_within_a_tenth_of_a_second_and_a_task(spark: SparkSession, bridge: Bridge) -> None:
    def reaction(_seconds: float) -> float:
        took = []
        for _ in range(5):
            bridge.grant({"moving": 0.1}, lease_s=90)
            wait_until(lambda: bridge.poll().job("moving").running == 0, 10)
            time.sleep(0.3)
            bridge.grant({"moving": 2.0}, lease_s=90)
            took.append(wait_until(lambda: bridge.poll().job("moving").running == 2, 10))
        return statistics.median(took)

    with hungry(spark, bridge, "moving"):
        assert_holds(reaction, 0.0, 0.12, seconds=0)


def test_the_lease_opens_the_pool_when_nobody_renews_it(spark: SparkSession, bridge: Bridge) -> None:
    expired = bridge.poll().counters.leases_expired
    with bridge.job("leased"):
        bridge.grant({"leased": 0.02}, lease_s=1.0)
        started = time.perf_counter()
        sleep_tasks(spark, 40, 50)  # one second on two slots, a hundred at 0.02 cores
        took = time.perf_counter() - started
        assert bridge.poll().job("leased").cores is None
    assert 1.0 < took < 60.0
    assert bridge.poll().counters.leases_expired == expired + 1


def test_renewing_keeps_the_lease(spark: SparkSession, bridge: Bridge) -> None:
    with hungry(spark, bridge, "renewed"):
        for _ in range(16):
            bridge.grant({"renewed": 0.25}, lease_s=3.0)
            time.sleep(0.25)
        assert bridge.poll().job("renewed").cores == 0.25, "longer than the first lease"


def test_idle_slots_are_lent_and_not_charged(spark: SparkSession, bridge: Bridge) -> None:
    bridge.set_strict(False)
    with hungry(spark, bridge, "alone"):
        bridge.grant({"alone": 0.5}, lease_s=90)
        time.sleep(0.5)
        before = bridge.poll()
        assert_cores(bridge, "alone", 1.3, 2.05, seconds=2)
        after = bridge.poll()
    assert after.job("alone").borrowed_s - before.job("alone").borrowed_s > 1.0
    assert after.job("alone").tokens > -0.3, "what was borrowed leaves no debt"
    rounds = after.counters.rounds - before.counters.rounds
    assert rounds < 8 * (after.job("alone").tasks - before.job("alone").tasks) + 50, "offers are not asked for idly"


def test_lending_ends_when_the_owner_wants_its_cores(spark: SparkSession, bridge: Bridge) -> None:
    bridge.set_strict(False)
    with hungry(spark, bridge, "guest", "owner"):
        bridge.grant({"guest": 0.5, "owner": 1.5}, lease_s=90)
        assert_share(bridge, "owner", "guest", 0.70, 0.80, seconds=3)


def test_idle_slots_go_to_whoever_stands_first(spark: SparkSession, bridge: Bridge) -> None:
    bridge.set_strict(False)
    with hungry(spark, bridge, "first", "second", "third"):
        bridge.grant({job: Grant(0.1, standby=place) for place, job in enumerate(("first", "second"))}, lease_s=90)
        bridge.grant({"third": Grant(0.1, standby=2)}, lease_s=90)
        assert_share(bridge, "first", "second", 0.85, 1.0, seconds=2)
        bridge.grant({job: Grant(0.1, standby=place) for place, job in enumerate(("third", "second"))}, lease_s=90)
        bridge.grant({"first": Grant(0.1, standby=2)}, lease_s=90)
        assert_share(bridge, "third", "first", 0.85, 1.0, seconds=2)
        bridge.grant(dict.fromkeys(("first", "second", "third"), 0.1), lease_s=90)
        assert_share(bridge, "first", "third", 0.4, 0.6, seconds=2)


def test_a_job_without_cores_and_place_takes_no_idle_slot_either(spark: SparkSession, bridge: Bridge) -> None:
    bridge.set_strict(False)
    with hungry(spark, bridge, "held"):
        wait_until(lambda: bridge.poll().job("held").tasks > 0, 60)
        bridge.grant({"held": 0.0}, lease_s=90)
        wait_until(lambda: bridge.poll().job("held").running == 0, 10)
        before = bridge.poll().job("held")
        time.sleep(1.0)
        after = bridge.poll().job("held")
        assert after.held_s == before.held_s
        assert after.pending > 0
        bridge.grant({"held": Grant(0.0, standby=0)}, lease_s=90)
        assert_cores(bridge, "held", 1.3, 2.05, seconds=1)


def test_no_slot_idles_while_a_throttled_job_waits_for_one_that_pauses(spark: SparkSession, bridge: Bridge) -> None:
    bridge.set_strict(False)
    stop = threading.Event()

    def pausing() -> None:
        with bridge.job("pausing"):
            while not stop.is_set():
                sleep_tasks(spark, 2, 20)
                time.sleep(0.2)

    def held_by_both(seconds: float) -> float:
        return sum(held_over(bridge, "pausing", "waiting", seconds=seconds).values())

    with hungry(spark, bridge, "waiting"):
        thread = threading.Thread(target=pausing)
        thread.start()
        wait_until(lambda: any(usage.job == "pausing" for usage in bridge.poll().jobs), 30)
        bridge.grant({"pausing": 1.7, "waiting": 0.3}, lease_s=90)
        try:
            assert_holds(held_by_both, 1.8, 2.05, seconds=2)
        finally:
            stop.set()
            thread.join()


def test_the_total_of_a_driver_bounds_lending(spark: SparkSession, bridge: Bridge) -> None:
    bridge.set_strict(False)
    with hungry(spark, bridge, "tenant"):
        bridge.grant({"tenant": 0.3}, lease_s=90, total_cores=1.0)
        assert_cores(bridge, "tenant", 0.85, 1.15, seconds=2.5)


def test_a_pool_that_nobody_grants_anything_is_opened_a_task_at_a_time(spark: SparkSession, bridge: Bridge) -> None:
    bridge.set_strict(False)
    stop, running = threading.Event(), []

    def nothing_for_this_driver() -> None:
        while not stop.wait(0.02):
            bridge.grant({}, lease_s=1.0, total_cores=0.0)
            running.extend(usage.running for usage in bridge.poll().jobs if usage.job == "stranger")

    bridge.grant({}, lease_s=1.0, total_cores=0.0)
    renewing = threading.Thread(target=nothing_for_this_driver)
    renewing.start()
    try:
        with bridge.job("stranger"):
            started = time.perf_counter()
            sleep_tasks(spark, 5, 100)
            took = time.perf_counter() - started
    finally:
        stop.set()
        renewing.join()
        bridge.grant({}, lease_s=1.0)
    assert max(running) == 1
    assert 1.5 < took < 4.5, "waits for a lease, once, and not for each task"


def test_a_barrier_stage_runs_whole_under_a_small_grant(spark: SparkSession, bridge: Bridge) -> None:
    with bridge.job("barrier"):
        bridge.grant({"barrier": Grant(cores=0.5, cap=1)}, lease_s=60)
        numbers = spark.sparkContext.parallelize(range(4), 2).barrier().mapPartitions(lambda rows: rows)
        assert sorted(numbers.collect()) == [0, 1, 2, 3]


def test_pools_come_and_go_with_their_jobs(spark: SparkSession, bridge: Bridge) -> None:
    def pools() -> set[str]:
        return {usage.job for usage in bridge.poll().jobs if not usage.ended}

    with bridge.job("outer"):
        with bridge.job("inner"):
            sleep_tasks(spark, 2, 1)
            assert pools() >= {"default", "outer", "inner"}
        wait_until(lambda: "inner" not in pools(), 30)
        assert spark.sparkContext.getLocalProperty("slaq.job") == "outer"
    wait_until(lambda: "outer" not in pools(), 30)
    assert spark.sparkContext.getLocalProperty("spark.scheduler.pool") is None


def test_a_pool_that_nobody_opened_stays_between_two_stages(spark: SparkSession, bridge: Bridge) -> None:
    context = spark.sparkContext
    context.setLocalProperty("spark.scheduler.pool", "unopened")
    try:
        for stage in range(1, 4):
            sleep_tasks(spark, 2, 1)
            wait_until(lambda done=2 * stage: bridge.poll().job("unopened").tasks == done, 30)
            assert not bridge.poll().job("unopened").ended
            if stage == 1:
                assert bridge.grant({"unopened": 1.5}, lease_s=90) == 1
        assert bridge.poll().job("unopened").cores == 1.5
    finally:
        context.setLocalProperty("spark.scheduler.pool", None)
        # Announced and let go, it need not linger.
        bridge.open_pool("unopened")
        bridge.close_pool("unopened")


def test_threads_that_share_their_properties_keep_their_jobs_apart(spark: SparkSession, bridge: Bridge) -> None:
    from pyspark import inheritable_thread_target

    barrier = threading.Barrier(3)

    def body(job: str, tasks: int) -> None:
        with bridge.job(job):
            barrier.wait()
            sleep_tasks(spark, tasks, 5)
            barrier.wait()

    target = inheritable_thread_target(body)  # one Properties object for both threads
    threads = [threading.Thread(target=target, args=args) for args in (("left", 3), ("right", 7))]
    for thread in threads:
        thread.start()
    barrier.wait()
    barrier.wait()
    stages = {}
    for thread in threads:
        thread.join()
    wait_until(lambda: stages.update({u.job: u.tasks for u in bridge.poll().jobs if u.ended}) or len(stages) >= 2, 30)
    assert (stages["left"], stages["right"]) == (3, 7)


def test_ten_thousand_jobs_leave_nothing_behind(spark: SparkSession, bridge: Bridge) -> None:
    root = spark.sparkContext._jsc.sc().taskScheduler().rootPool()
    before = root.schedulableQueue().size()
    for number in range(10_000):
        with bridge.job(f"many-{number}"):
            if number % 100 == 0:
                sleep_tasks(spark, 2, 1)
    wait_until(lambda: bridge.poll().counters.stages_tracked == 0, 30)
    assert root.schedulableQueue().size() == before
    assert root.schedulableNameToSchedulable().size() == before
    assert root.runningTasks() == 0
    bridge.acknowledge(bridge.poll().complete)
    assert not [usage for usage in bridge.poll().jobs if usage.job.startswith("many-")]


@pytest.mark.parametrize(
    ("grant", "message"),
    [
        (float("nan"), "finite number"),
        (-1.0, "finite number"),
        (Grant(1.0, cap=0), "would stop it"),
        (Grant(1.0, burst_s=0.0), "holds no task"),
    ],
)
def test_a_grant_that_makes_no_sense_is_refused(bridge: Bridge, grant: float | Grant, message: str) -> None:
    with pytest.raises(SlaqError, match=message):
        bridge.grant({"x": grant}, lease_s=1)


@pytest.mark.parametrize("lease_s", [0.0, float("nan"), float("inf")])
def test_a_lease_that_makes_no_sense_is_refused(bridge: Bridge, lease_s: float) -> None:
    with pytest.raises(SlaqError, match="finite number of seconds"):
        bridge.grant({"x": 1.0}, lease_s=lease_s)


def test_the_end_of_a_very_long_lease_lies_in_the_future(spark: SparkSession, bridge: Bridge) -> None:
    with hungry(spark, bridge, "patient"):
        bridge.grant({"patient": 0.05}, lease_s=1e12)
        before = bridge.poll().counters.revivals
        time.sleep(1.0)
        assert bridge.poll().counters.revivals - before < 200, "offers are not asked for idly"


def test_a_grant_for_an_unknown_job_is_ignored(bridge: Bridge) -> None:
    assert bridge.grant({"nobody": 1.0, "default": None}, lease_s=1) == 1

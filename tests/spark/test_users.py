"""Users of one driver: whose work is whose, limits that idle slots do not lift, and slots by user first."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from pyspark.ml.clustering import KMeans
from pyspark.ml.linalg import Vectors
from pyspark.sql import SparkSession

from slaq.bench._tasks import keep_busy, sleep_tasks
from slaq.spark.bridge import Bridge
from slaq.spark.records import Begin, Grant
from tests.spark.test_quotas import in_background

pytestmark = pytest.mark.spark

UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"
OTHER = "7c9e6679-7425-40de-944b-e07fc1f90ae7"


def tag(user: str) -> str:
    """As a Spark Connect server tags the jobs of an operation."""
    return f"SparkConnect_OperationTag_User_{user}_Session_{UUID}_Operation_{OTHER}"


@contextmanager
def local(spark: SparkSession, **properties: str) -> Iterator[None]:
    """Local properties of this thread, dots written as underscores of two."""
    names = {name.replace("__", "."): value for name, value in properties.items()}
    for name, value in names.items():
        spark.sparkContext.setLocalProperty(name, value)
    try:
        yield
    finally:
        for name in names:
            spark.sparkContext.setLocalProperty(name, None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("tags", "user"),
    [
        (tag("alice"), "alice"),
        (f"mine,{tag('al_ice_x')},spark-session-{UUID}", "al_ice_x"),
        (tag(f"eve_Session_{OTHER}_Operation_{UUID}"), f"eve_Session_{OTHER}_Operation_{UUID}"),
        (tag("a/b\tc d"), "a/b\tc d"),
        (f"{tag('alice')},{tag('bob')}", ""),
        (f"SparkConnect_SessionTag_User_eve_Session_{UUID}_Tag_{tag('alice')}", ""),
        (f"SparkConnect_OperationTag_User_eve_Session_none_Operation_{UUID}", ""),
        (tag(""), ""),
        ("mine", ""),
    ],
)
def test_work_belongs_to_the_user_in_the_servers_tag(spark: SparkSession, bridge: Bridge, tags: str, user: str) -> None:
    before = {usage.job: usage.stages for usage in bridge.poll().jobs}
    with local(spark, spark__job__tags=tags):
        sleep_tasks(spark, 2, 1)
    (used,) = [usage for usage in bridge.poll().jobs if usage.stages > before.get(usage.job, 0)]
    assert used.user == user
    assert (used.job == "default") is (not user)


def test_a_pool_that_a_user_names_is_not_anothers(spark: SparkSession, bridge: Bridge) -> None:
    for user, pool in (("alice", "x"), ("bob", "x"), ("bob", "user/alice"), ("alice/x", "default")):
        with local(spark, spark__job__tags=tag(user), spark__scheduler__pool=pool):
            sleep_tasks(spark, 1, 1)
    owners = {usage.job: usage.user for usage in bridge.poll().jobs if usage.user in ("alice", "bob", "alice/x")}
    assert owners["user/alice/x"] == "alice"
    assert owners["user/bob/x"] == "bob"
    assert owners["user/bob/user%2Falice"] == "bob"
    assert owners["user/alice%2Fx"] == "alice/x"


def test_a_property_names_the_user_of_a_thread_unless_a_tag_does(spark: SparkSession, bridge: Bridge) -> None:
    with local(spark, spark__slaq__user="carol"):
        sleep_tasks(spark, 1, 1)
    with local(spark, spark__slaq__user="alice", spark__job__tags=tag("dave")):
        sleep_tasks(spark, 1, 1)
    users = {usage.user for usage in bridge.poll().jobs}
    assert {"carol", "dave"} <= users


def test_a_fit_tells_its_user_and_what_the_session_says_of_it(spark: SparkSession, bridge: Bridge) -> None:
    data = spark.createDataFrame([(Vectors.dense([float(i % 7), 1.0]),) for i in range(40)], ["features"])
    known = bridge.poll().complete
    said = {"name": "forecast", "weight": "2.5", "group": "mine", "targetLoss": "a slip"}
    for key, value in said.items():
        spark.conf.set(f"spark.slaq.{key}", value)
    try:
        with local(spark, spark__job__tags=tag("alice")):
            KMeans(k=2, maxIter=2).fit(data)
    finally:
        for key in said:
            spark.conf.unset(f"spark.slaq.{key}")
    KMeans(k=2, maxIter=2).fit(data)
    first, second = (event for event in bridge.poll(known).events if isinstance(event, Begin))
    assert (first.user, first.name, first.weight, first.group, first.target_loss) == (
        "alice",
        "forecast",
        2.5,
        "mine",
        None,
    )
    assert (second.user, second.name, second.weight, second.group) == ("", "", None, "")


def test_a_job_that_does_not_borrow_keeps_to_its_cores_while_slots_are_idle(
    spark: SparkSession, bridge: Bridge
) -> None:
    bridge.set_strict(False)
    with keep_busy(bridge, ["kept"], lambda: sleep_tasks(spark, 4, 20), threads_per_job=2):
        bridge.grant({"kept": Grant(0.5, borrows=False)}, lease_s=60)
        held = measured(bridge, 4.0)
    assert held["kept"] / 4.0 == pytest.approx(0.5, abs=0.06)


def test_a_slot_goes_to_the_latest_user_first_however_many_jobs_others_have(
    spark: SparkSession, bridge: Bridge
) -> None:
    bridge.set_strict(False)
    stop = threading.Event()

    def work(job: str, user: str) -> Callable[[], None]:
        def run() -> None:
            with local(spark, spark__job__tags=tag(user)), bridge.job(job):
                while not stop.is_set():
                    sleep_tasks(spark, 4, 20)

        return run

    jobs = {"a-1": "ann", "a-2": "ann", **{f"b-{i}": "ben" for i in range(6)}}
    # The grants within a user are as uneven as a policy makes them: what one leaves in its pauses is its user's.
    cores = {"a-1": 0.95, "a-2": 0.05, "b-0": 0.9, **{f"b-{i}": 0.02 for i in range(1, 6)}}
    with in_background(*(work(job, user) for job, user in jobs.items())):
        try:
            bridge.set_users_first(True)
            threading.Event().wait(1.0)
            bridge.grant(dict(cores), lease_s=60)
            held = measured(bridge, 6.0)
        finally:
            stop.set()
            bridge.set_users_first(False)
            bridge.grant(dict.fromkeys(jobs), lease_s=60)
    by_user = {user: sum(held[job] for job in jobs if jobs[job] == user) for user in ("ann", "ben")}
    assert by_user["ann"] / sum(by_user.values()) == pytest.approx(0.5, abs=0.06)


def measured(bridge: Bridge, seconds: float) -> dict[str, float]:
    """Core-seconds that each pool held in so many seconds."""
    before = {usage.job: usage.held_s for usage in bridge.poll().jobs}
    threading.Event().wait(seconds)
    return {usage.job: usage.held_s - before.get(usage.job, 0.0) for usage in bridge.poll().jobs}

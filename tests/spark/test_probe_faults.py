"""Whatever goes wrong inside the probe, the fit goes on: a counter and one warning say so, and models stay the same."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pyspark
import pytest
from pyspark.ml.classification import LogisticRegression
from pyspark.ml.clustering import KMeans
from pyspark.ml.recommendation import ALS
from pyspark.sql import DataFrame, SparkSession

from tests.spark import training_data
from tests.spark.probe_watch import health, watch

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def points(spark: SparkSession) -> DataFrame:
    return training_data.points(spark).cache()


@pytest.fixture
def break_hook(spark: SparkSession) -> Iterator[Callable[[str], None]]:
    """Make the hook of a name throw until the test ends; then it is as if it never had, for other tests in this JVM."""
    yield lambda hook: set_static(spark, "io.slaq.probe.Health", "fault", hook)
    set_static(spark, "io.slaq.probe.Health", "fault", None)
    for name in ("ERRORS", "STOPPED"):
        field = spark._jvm.java.lang.Class.forName("io.slaq.probe.Health").getDeclaredField(name)
        field.setAccessible(True)
        field.get(None).clear()


def set_static(spark: SparkSession, owner: str, name: str, value: str | None) -> None:
    spark._jvm.java.lang.Class.forName(owner).getField(name).set(None, value)


def test_a_hook_that_throws_is_warned_of_once_and_stopped_the_third_time(
    spark: SparkSession, points: DataFrame, break_hook: Callable[[str], None]
) -> None:
    before = health(spark)
    break_hook("cost")
    with watch(spark) as seen:
        first = KMeans(k=2, seed=1, maxIter=3).fit(points)
        KMeans(k=2, seed=1, maxIter=3).fit(points)
    after = health(spark)
    assert [job.losses for job in seen.jobs] == [[], []]
    assert all(job.end is not None and job.end["ok"] for job in seen.jobs)
    assert first.summary.trainingCost > 0
    assert after["errors"]["cost"] == 3, "two fits of three iterations would have made six"
    assert "cost" in after["stopped"]
    assert after["warnings"] - before["warnings"] == 1


def test_a_broken_hook_inside_tasks_leaves_the_tasks_as_they_are(
    spark: SparkSession, break_hook: Callable[[str], None]
) -> None:
    break_hook("als")
    with watch(spark) as seen:
        model = ALS(rank=2, maxIter=2, seed=1, numUserBlocks=2, numItemBlocks=2).fit(training_data.ratings(spark))
    assert seen.only().losses == []
    assert model.rank == 2
    assert health(spark)["errors"]["als"] == 3, "of four half steps"


@pytest.mark.usefixtures("bridge")  # it is who listens
def test_a_listener_that_throws_does_not_reach_the_fit(
    spark: SparkSession, points: DataFrame, break_hook: Callable[[str], None]
) -> None:
    before = health(spark)["errors"].get("listener", 0)
    break_hook("listener")
    with watch(spark) as seen:
        LogisticRegression(maxIter=2).fit(points)
    assert len(seen.only().losses) == 3
    assert health(spark)["errors"]["listener"] - before == 2


def test_a_class_that_has_changed_shape_keeps_its_own_code(spark: SparkSession) -> None:
    probe = spark._jvm.io.slaq.probe
    before = health(spark)
    other = spark._jvm.java.lang.ClassLoader.getSystemResourceAsStream("io/slaq/probe/Json.class").readAllBytes()
    for _ in range(2):
        assert probe.Agent.rewritten("breeze/optimize/FirstOrderMinimizer", other) is None
    assert probe.Agent.rewritten("breeze/optimize/FirstOrderMinimizer", b"no class at all") is None
    after = health(spark)
    assert after["missed"]["breeze"] == 3
    missed = {name for name, times in after["missed"].items() if times != before["missed"].get(name)}
    assert after["warnings"] - before["warnings"] == len(missed) == 2, "one for the losses, one for stopping"
    assert probe.Agent.rewritten("java/lang/String", other) is None


def test_a_switch_leaves_sparks_tasks_alone(spark: SparkSession) -> None:
    key = "spark.slaq.probe.extraPasses"
    spark._jvm.java.lang.System.setProperty(key, "false")
    try:
        with watch(spark) as seen:
            ALS(rank=2, maxIter=2, seed=1, numUserBlocks=2, numItemBlocks=2).fit(training_data.ratings(spark))
    finally:
        spark._jvm.java.lang.System.clearProperty(key)
    assert seen.only().losses == []


@pytest.mark.slow
@pytest.mark.timeout(660)
def test_models_are_the_same_without_and_with_a_probe_attached_later(run_driver: Callable[..., str]) -> None:
    printed = run_driver(Path(__file__).with_name("late_attach_driver.py").read_text(), timeout_s=600)
    result = json.loads(printed.splitlines()[-1])
    assert result["without"] == result["with"]
    assert set(result["without"]) == set(result["curves"])
    assert all(len(curve) >= 2 for curve in result["curves"].values()), result["curves"]
    assert result["missed"] == {}
    assert result["errors"] == {}


@pytest.mark.slow
@pytest.mark.timeout(660)
@pytest.mark.parametrize(("start", "losses"), [("plugin", 2), ("late", 2 if pyspark.__version__ < "4" else 0)])
def test_a_model_can_be_used_on_executors_that_never_trained(
    run_driver: Callable[..., str], start: str, losses: int
) -> None:
    program = Path(__file__).with_name("als_cluster_driver.py").read_text()
    seen = json.loads(run_driver(program, start, timeout_s=600).splitlines()[-1])
    assert (seen["factors"], seen["predictions"]) == (12, 58)
    assert len(seen["losses"]) == losses, (
        "summing code in a model's lineage only where executors load it at their start, or Spark sends it with queries"
    )
    assert seen["errors"] == {}


CLUSTER_DRIVER = """
import json
from pyspark.ml.recommendation import ALS
from pyspark.sql import SparkSession
from slaq.spark.jar import jar_path
from tests.spark import training_data
from tests.spark.probe_watch import watch

spark = (
    SparkSession.builder.master("local-cluster[1,1,700]")
    .config("spark.executor.memory", "512m")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.extraJavaOptions", f"-javaagent:{jar_path()}")
    .getOrCreate()
)
with watch(spark) as seen:
    ALS(rank=2, maxIter=2, seed=1, numUserBlocks=2, numItemBlocks=2).fit(training_data.ratings(spark))
print(json.dumps(seen.only().losses))
spark.stop()
"""


@pytest.mark.slow
@pytest.mark.timeout(660)
def test_executors_in_other_processes_are_brought_what_they_need(run_driver: Callable[..., str]) -> None:
    losses = json.loads(run_driver(CLUSTER_DRIVER, timeout_s=600).splitlines()[-1])
    assert len(losses) == 2
    assert losses[1] < losses[0]

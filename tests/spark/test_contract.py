"""A Spark that lacks something, a JVM that refuses a rewritten class: the program runs and is told what is missing."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from slaq.spark.jar import jar_path
from tests.spark.probe_watch import health

pytestmark = pytest.mark.spark

CONTRACT = "META-INF/slaq/contract"


def altered_jar(target: Path, change: Callable[[str, bytes], bytes]) -> Path:
    """A copy of the jar, each entry changed by a function of its name and content."""
    with zipfile.ZipFile(jar_path()) as source, zipfile.ZipFile(target, "w") as copy:
        for name in source.namelist():
            copy.writestr(name, change(name, source.read(name)))
    return target


def test_this_spark_has_all_that_is_needed(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    assert list(jvm.io.slaq.bridge.Needs.missing()) == []
    found = health(spark)
    assert set(found["missed"]) <= set(found["applied"]), "other tests offer it classes of another shape"
    assert {"gate", "ml fit", "breeze", "als", "dynamic allocation"} <= set(found["applied"])


def test_the_list_holds_calls_inherited_calls_and_overrides() -> None:
    with zipfile.ZipFile(jar_path()) as jar:
        lines = set(jar.read(CONTRACT).decode().splitlines())
    pool = "org/apache/spark/scheduler/Pool"
    assert f"io/slaq/bridge/JobPool override {pool} increaseRunningTasks (I)V" in lines
    inherited = f"io/slaq/bridge/JobPool member {pool} schedulableQueue ()Ljava/util/concurrent/ConcurrentLinkedQueue;"
    assert inherited in lines, "called on a class of ours, declared in Spark's"
    assert "io/slaq/probe/Als uses io/slaq/probe/AlsSolver" in lines


PROGRAM = """
import json, sys
from pyspark.ml.classification import LogisticRegression
from pyspark.ml.clustering import KMeans
from pyspark.sql import SparkSession
from tests.spark import training_data
from tests.spark.probe_watch import health, watch

builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.extraJavaOptions", f"-javaagent:{sys.argv[1]}")
builder = builder.config("spark.slaq.python", sys.executable)  # the sidecar needs slaq installed
spark = builder.config("spark.plugins", "io.slaq.bridge.SlaqPlugin").getOrCreate()
points = training_data.points(spark)
root = spark.sparkContext._jsc.sc().taskScheduler().rootPool()
sidecar = spark._jvm.io.slaq.sidecar.Sidecar
desk = sidecar.desk() is not None
sidecar.stop()  # it acknowledges events as it reads them, and this program reads them itself
with watch(spark) as seen:
    LogisticRegression(maxIter=3).fit(points)
    cost = KMeans(k=2, seed=1, maxIter=3).fit(points).summary.trainingCost
print(json.dumps({
    "pools": [child.name() for child in root.schedulableQueue().toArray()],
    "mode": str(spark.sparkContext._jsc.sc().taskScheduler().schedulingMode()),
    "losses": {job.estimator: len(job.losses) for job in seen.jobs},
    "cost": cost,
    "health": health(spark),
    "desk": desk,
}))
spark.stop()
"""


@pytest.mark.slow
def test_without_a_member_that_the_bridge_needs_the_program_runs_as_plain_spark(
    run_driver: Callable[..., Any], tmp_path: Path
) -> None:
    lines = (
        "io/slaq/bridge/JobPool member org/apache/spark/scheduler/Pool sortTwice (I)V\n"
        "io/slaq/probe/Clusters member org/apache/spark/mllib/clustering/KMeansModel gone ()I\n"
        "io/slaq/probe/LeastSquares class org/apache/spark/ml/Gone\n"
    )
    jar = altered_jar(tmp_path / "lacking.jar", lambda name, data: data + lines.encode() if name == CONTRACT else data)
    done = run_driver(PROGRAM, str(jar), whole=True)
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["pools"] == []
    assert (seen["mode"], seen["desk"]) == ("FIFO", False)
    warnings = [line for line in done.stderr.splitlines() if "SLAQ is not installed" in line]
    assert len(warnings) == 1
    assert "org.apache.spark.scheduler.Pool.sortTwice (I)V" in warnings[0]
    missed = {"bisecting kmeans", "streaming kmeans", "least squares summary", "least squares", "irls"}
    assert set(seen["health"]["missed"]) == missed, "hooks that need the missing member, and no others"
    assert "KMeansModel.gone" in seen["health"]["reasons"]["streaming kmeans"]
    assert seen["losses"] == {"LogisticRegression": 4, "KMeans": 3}


@pytest.mark.slow
def test_a_class_whose_new_code_does_not_verify_keeps_its_own(run_driver: Callable[..., Any], tmp_path: Path) -> None:
    """One descriptor in the hooks is wrong: they hand a double to a method that takes a float."""

    def spoil(name: str, data: bytes) -> bytes:
        return data.replace(b"\x00\x04(D)V", b"\x00\x04(F)V") if name == "io/slaq/probe/ValueHooks.class" else data

    done = run_driver(PROGRAM, str(altered_jar(tmp_path / "spoilt.jar", spoil)), whole=True)
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["cost"] > 0, "the fit of a class that was refused"
    assert seen["losses"] == {"LogisticRegression": 4, "KMeans": 0}, "the others are hooked"
    reasons = seen["health"]["reasons"]
    assert {"kmeans row", "kmeans block", "sgd", "power iteration", "gaussian mixture mllib"} <= set(reasons)
    assert reasons["kmeans row"].startswith("java.lang.VerifyError")
    assert seen["health"]["errors"] == {}
    assert seen["desk"]
    assert {"default", "(slaq)"} <= set(seen["pools"])
    assert done.stderr.count("does not know this version of Spark") == 1

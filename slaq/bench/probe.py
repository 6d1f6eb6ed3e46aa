"""`slaq bench probe`: what reading the losses costs, per iteration and for losses that take work of their own."""

import json
import random
import statistics
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from slaq.bench._output import emit, format_option
from slaq.spark.jar import jar_path
from slaq.workload.known_warnings import without_known_warnings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BAR_US = 20.0
BAR_PERCENT = 2.0
SWITCH = "spark.slaq.probe.extraPasses"
LOSSES = 200_000


@click.command("probe")
@click.option("--rounds", default=5, show_default=True, help="How often each training runs with and without.")
@format_option
def command(rounds: int, output_format: str) -> None:
    """The hook itself inside the JVM, and trainings with their extra work switched on and off in turn.

    Extra work is compared by the CPU time of the JVM, which runs driver and tasks, not by the clock: two percent of
    a training are less than what any other program on the machine adds to the clock.
    """
    spark = session()
    try:
        hook = hook_cost(spark)
        extra = [extra_cost(spark, name, train, rounds) for name, train in trainings(spark).items()]
    finally:
        spark.stop()
    rows = [
        {"what": "one loss (us)", "value": hook["us_per_loss"], "bar": BAR_US},
        {"what": "one loss, share of a LogisticRegression iteration (%)", "value": hook["percent"], "bar": BAR_PERCENT},
        *(
            {"what": f"{cost['name']}: extra work (% CPU)", "value": cost["percent"], "bar": BAR_PERCENT}
            for cost in extra
        ),
    ]
    facts = {"hook": hook, "extra": extra, "bar_us": BAR_US, "bar_percent": BAR_PERCENT, "rounds": rounds}
    emit(output_format, facts, "What the probe costs", rows)


def session() -> "SparkSession":
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("slaq-bench-probe")
    options = {
        "spark.driver.extraJavaOptions": f"-javaagent:{jar_path()}",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    for key, value in options.items():
        builder = builder.config(key, value)
    with without_known_warnings():
        spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def hook_cost(spark: "SparkSession") -> dict[str, float]:
    """Time from a hook's call to the event in the ring, and what part that is of a small fit's iteration."""
    from pyspark.ml.classification import LogisticRegression

    jvm: Any = spark._jvm
    timing = jvm.io.slaq.probe.Timing
    timing.nanosPerLoss(LOSSES)
    us_per_loss = statistics.median(timing.nanosPerLoss(LOSSES) for _ in range(5)) / 1e3
    us_per_fit = timing.nanosPerFit(10_000) / 1e3
    data = points(spark, 2_000)
    LogisticRegression(maxIter=20, tol=0.0).fit(data)
    jvm.io.slaq.probe.Events.drain(10**6)
    LogisticRegression(maxIter=20, tol=0.0).fit(data)
    losses = [event for event in json.loads(jvm.io.slaq.probe.Events.drain(10**6)) if event["event"] == "loss"]
    times = [event["nanos"] for event in losses]
    iteration_us = statistics.median(b - a for a, b in pairwise(times)) / 1e3
    percent = 100 * us_per_loss / iteration_us
    return {
        "us_per_loss": us_per_loss,
        "us_per_fit": us_per_fit,
        "iteration_us": iteration_us,
        "percent": percent,
    }


def extra_cost(spark: "SparkSession", name: str, train: Callable[[], object], rounds: int) -> dict[str, Any]:
    """Median over rounds of CPU time with the extra work against CPU time without, the order changing every round."""
    jvm: Any = spark._jvm
    timing = jvm.io.slaq.probe.Timing

    def cpu_s(extra: bool) -> float:
        jvm.java.lang.System.setProperty(SWITCH, str(extra).lower())
        jvm.java.lang.System.gc()
        start = timing.cpuSeconds()
        train()
        return float(timing.cpuSeconds() - start)

    for extra in (True, False):
        cpu_s(extra)
    pairs = []
    for number in range(rounds):
        order = (True, False) if number % 2 else (False, True)
        measured = {extra: cpu_s(extra) for extra in order}
        pairs.append((measured[True], measured[False]))
    jvm.java.lang.System.clearProperty(SWITCH)
    ratio = statistics.median(on / off for on, off in pairs)
    return {"name": name, "percent": 100 * (ratio - 1), "cpu_s": statistics.median(off for _, off in pairs)}


def trainings(spark: "SparkSession") -> dict[str, Callable[[], object]]:
    """One training for each loss that is more than reading a number, large enough to see two percent of it."""
    from pyspark.ml import classification, clustering, feature, recommendation, regression

    rows = points(spark, 20_000)
    rated = ratings(spark)
    documents = corpus(spark)
    text = sentences(spark)
    als: dict[str, Any] = {"rank": 10, "maxIter": 5, "seed": 1, "numUserBlocks": 4, "numItemBlocks": 4}
    return {
        "ALS": lambda: recommendation.ALS(**als).fit(rated),
        "ALS implicit": lambda: recommendation.ALS(implicitPrefs=True, **als).fit(rated),
        "GBTClassifier": lambda: classification.GBTClassifier(maxIter=8, maxDepth=4, seed=1).fit(rows),
        "GeneralizedLinearRegression": lambda: regression.GeneralizedLinearRegression(
            family="binomial", maxIter=10, tol=0.0
        ).fit(rows),
        "LDA em": lambda: clustering.LDA(k=10, maxIter=5, optimizer="em", seed=1).fit(documents),
        "LDA online": lambda: clustering.LDA(k=10, maxIter=10, seed=1, subsamplingRate=0.2).fit(documents),
        "Word2Vec": lambda: feature.Word2Vec(vectorSize=50, maxIter=5, seed=1, inputCol="words").fit(text),
    }


def points(spark: "SparkSession", count: int) -> "DataFrame":
    from pyspark.ml.linalg import Vectors

    chance = random.Random(7)

    def row() -> tuple[float, Any]:
        label = float(chance.random() < 0.5)
        return label, Vectors.dense([chance.gauss(label * (i % 3 - 1), 1) for i in range(12)])

    return cached(spark.createDataFrame([row() for _ in range(count)], ["label", "features"]))


def ratings(spark: "SparkSession") -> "DataFrame":
    chance = random.Random(3)
    rows = [(chance.randrange(2_000), chance.randrange(500), float(chance.randrange(1, 6))) for _ in range(100_000)]
    return cached(spark.createDataFrame(rows, ["user", "item", "rating"]))


def corpus(spark: "SparkSession") -> "DataFrame":
    from pyspark.ml.linalg import Vectors

    chance = random.Random(5)
    words = 1_000

    def document(number: int) -> Any:
        first = (number % 10) * 100
        counts = {first + chance.randrange(150): float(chance.randrange(1, 5)) for _ in range(60)}
        return Vectors.sparse(words, {word % words: count for word, count in counts.items()})

    return cached(spark.createDataFrame([(document(number),) for number in range(1_500)], ["features"]))


def sentences(spark: "SparkSession") -> "DataFrame":
    chance = random.Random(9)
    rows = [([f"w{int(chance.paretovariate(0.6)) % 400}" for _ in range(20)],) for _ in range(4_000)]
    return cached(spark.createDataFrame(rows, ["words"]))


def cached(data: "DataFrame") -> "DataFrame":
    data = data.repartition(2).cache()
    data.count()
    return data

"""A CrossValidator of equal candidates, plain and with SLAQ attached by turns: how long it takes, and what it finds."""

import os
import time
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct, to_builtins

from slaq.bench._output import emit, format_option
from slaq.workload.algorithms import DATA_SEED, PARTITIONS
from slaq.workload.data import classes, frame
from slaq.workload.run import observed
from slaq.workload.session import session
from slaq.workload.watch import Watch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WAYS = {"plain": "spark-fifo", "slaq": "slaq"}
"""Spark as it comes, and the same program with SLAQ, which brings its own pools."""

GRID = {"regParam": (0.0, 0.0003, 0.003, 0.03), "elasticNetParam": (0.0, 0.5, 1.0)}


class Search(Struct, frozen=True):
    """One search."""

    way: str
    round: int
    elapsed_s: float
    metrics: list[float]
    chosen: str


@click.command(help=__doc__)
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(min=1), help="Searches of each way.")
@click.option("--rows", default=12_000, show_default=True, type=click.IntRange(min=100), help="Rows of the drawn data.")
@click.option("--iterations", default=40, show_default=True, type=click.IntRange(min=2), help="Of each candidate.")
@click.option("--folds", default=2, show_default=True, type=click.IntRange(min=2), help="Of a search.")
@click.option("--parallelism", default=6, show_default=True, type=click.IntRange(min=1), help="Fits at once.")
@click.option(
    "--local-dir",
    type=click.Path(exists=True, file_okay=False),
    help="Where Spark writes shuffle files; what creating them costs varies on a disk, so best a folder in memory.",
)
@click.option("--cores", default=os.cpu_count() or 2, show_default="all", type=click.IntRange(min=1), help="Of Spark.")
@format_option
def command(
    rounds: int,
    rows: int,
    iterations: int,
    folds: int,
    parallelism: int,
    local_dir: str | None,
    cores: int,
    output_format: str,
) -> None:
    more = {"spark.local.dir": os.path.abspath(local_dir)} if local_dir else {}
    searches = []
    for number in range(-1, rounds):
        for way in WAYS if number % 2 else reversed(WAYS):
            spark = session("FIFO", cores, more=more)
            try:
                made = frame(spark, classes(60, 5, decay=0.05), rows, DATA_SEED, PARTITIONS).cache()
                made.count()
                found = search(spark, way, number, made, iterations, folds, parallelism)
            finally:
                spark.stop()
            # A long measurement that is interrupted keeps what it has.
            click.echo(f"round {number + 1}: {way}: {found.elapsed_s:.2f} s", err=True)
            if number >= 0:  # the JVM goes on compiling for minutes: the first round does not count
                searches.append(found)
    title = f"12 candidates × {folds} folds, {parallelism} at once, {cores} cores, median of {rounds}"
    emit(output_format, {"searches": [to_builtins(found) for found in searches]}, title, summary(searches))


def search(
    spark: "SparkSession", way: str, number: int, made: "DataFrame", iterations: int, folds: int, parallelism: int
) -> Search:
    """Run the whole search."""
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.evaluation import MulticlassClassificationEvaluator
    from pyspark.ml.tuning import CrossValidator, ParamGridBuilder

    log_loss: Any = MulticlassClassificationEvaluator()
    log_loss.setMetricName("logLoss")
    estimator = LogisticRegression(maxIter=iterations, tol=0.0, standardization=False)
    grid = ParamGridBuilder()
    for name, values in GRID.items():
        grid = grid.addGrid(estimator.getParam(name), list(values))
    validator = CrossValidator(
        estimator=estimator,
        estimatorParamMaps=grid.build(),
        evaluator=log_loss,
        numFolds=folds,
        parallelism=parallelism,
        seed=1,
    )
    began = time.time()
    with observed(spark, WAYS[way], Watch(began), {}):
        model: Any = validator.fit(made)
        elapsed_s = time.time() - began
    metrics = [float(value) for value in model.avgMetrics]
    best = validator.getEstimatorParamMaps()[metrics.index(min(metrics))]
    chosen = ", ".join(f"{param.name}={value}" for param, value in best.items())
    return Search(way, number, elapsed_s, metrics, chosen)


def summary(searches: Sequence[Search]) -> list[dict[str, object]]:
    """A line for each way, compared with the plain search of the same round."""
    seconds = {way: {found.round: found.elapsed_s for found in searches if found.way == way} for way in WAYS}
    lines: list[dict[str, object]] = []
    for way in WAYS:
        ratios = sorted(seconds[way][number] / plain for number, plain in seconds["plain"].items())
        lines.append(
            {
                "driver": way,
                "s": median(seconds[way].values()),
                "of plain": median(ratios),
                "least": ratios[0],
                "most": ratios[-1],
                "best": _agreement([found for found in searches if found.way == way], searches[0].metrics),
            }
        )
    return lines


def _agreement(searches: Sequence[Search], metrics: Sequence[float]) -> str:
    """The chosen candidate, and how far the metrics are from those of the first search of all."""
    most = max(abs(one - other) for found in searches for one, other in zip(found.metrics, metrics, strict=True))
    chosen = " or ".join(sorted({found.chosen for found in searches}))
    return f"{chosen}; metrics {'identical' if most == 0.0 else f'within {most:.1e}'}"

"""A CrossValidator over a grid, with plain Spark and with SLAQ attached: when is the best candidate known?

"Leads" is the moment from which the candidate that wins in the end has the lowest loss of all; "good" the moment at
which its own loss has come 95 % of its way; "search" the time of the whole search.
"""

import os
import time
from statistics import median
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct, to_builtins

from slaq.bench._output import emit, format_option
from slaq.workload.algorithms import DATA_SEED, PARTITIONS
from slaq.workload.data import classes, frame
from slaq.workload.run import observed
from slaq.workload.session import session
from slaq.workload.watch import Seen, Watch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PARTS = {"plain": "FIFO", "slaq": "FIFO"}
"""Spark's scheduling mode: its default for both, SLAQ brings its own pools."""

GRID = {"regParam": (0.0, 0.0003, 0.003, 0.03), "elasticNetParam": (0.0, 0.5, 1.0)}
GOOD = 0.95


class Search(Struct, frozen=True):
    """One search; times in seconds from its begin."""

    kind: str
    round: int
    search_s: float
    leads_s: float
    good_s: float
    mean_good_s: float
    """The mean over all candidates."""
    best: dict[str, float]
    metrics: list[float]


@click.command(help=__doc__)
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(min=1), help="Searches of each kind.")
@click.option("--rows", default=12_000, show_default=True, type=click.IntRange(min=100), help="Rows of the drawn data.")
@click.option("--iterations", default=40, show_default=True, type=click.IntRange(min=2), help="The most of one fit.")
@click.option(
    "--folds", default=2, show_default=True, type=click.IntRange(min=2), help="Folds of the cross-validation."
)
@click.option("--parallelism", default=6, show_default=True, type=click.IntRange(min=1), help="Fits at once.")
@click.option(
    "--cores",
    default=os.cpu_count() or 2,
    show_default="all",
    type=click.IntRange(min=1),
    help="Cores that Spark gets.",
)
@format_option
def command(
    rounds: int, rows: int, iterations: int, folds: int, parallelism: int, cores: int, output_format: str
) -> None:
    searches = []
    for number in range(-1, rounds):
        for kind in PARTS if number % 2 else reversed(PARTS):
            spark = session(PARTS[kind], cores)
            try:
                made = frame(spark, classes(60, 5, decay=0.05), rows, DATA_SEED, PARTITIONS).cache()
                made.count()
                found = search(spark, kind, number, made, iterations, folds, parallelism)
                if number >= 0:  # the JVM goes on compiling for minutes: the first round does not count
                    searches.append(found)
            finally:
                spark.stop()
    lines: list[dict[str, object]] = []
    for kind in PARTS:
        mine = [found for found in searches if found.kind == kind]
        named = {"leads s": "leads_s", "good s": "good_s", "all good s": "mean_good_s", "search s": "search_s"}
        middle = {title: median(getattr(found, field) for found in mine) for title, field in named.items()}
        lines.append({"driver": kind, "best": str(mine[0].best), **middle})
    title = f"12 candidates × {folds} folds, {parallelism} at once, {cores} cores, median of {rounds}"
    emit(output_format, {"searches": [to_builtins(found) for found in searches]}, title, lines)


def search(
    spark: "SparkSession", kind: str, number: int, made: "DataFrame", iterations: int, folds: int, parallelism: int
) -> Search:
    """Run the whole search and find the moments in the fits' curves."""
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
    watch = Watch(began)
    with observed(spark, "slaq" if kind == "slaq" else "spark-fifo", watch, {}):
        model: Any = validator.fit(made)
        search_s = time.time() - began
    best_at = min(range(len(model.avgMetrics)), key=model.avgMetrics.__getitem__)
    best = {param.name: float(value) for param, value in validator.getEstimatorParamMaps()[best_at].items()}
    return judged(kind, number, search_s, best, [float(value) for value in model.avgMetrics], watch.fits())


def judged(
    kind: str, number: int, search_s: float, best: dict[str, float], metrics: list[float], fits: list[Seen]
) -> Search:
    """The moments of one search; the last fit of the best candidate is the refit and not part of the race."""
    race = sorted(fits, key=lambda fit: fit.began_s)[:-1]
    mine = [fit for fit in race if all(fit.params.get(name) == value for name, value in best.items())]
    return Search(
        kind=kind,
        round=number,
        search_s=search_s,
        leads_s=max(leads_from(fit, race) for fit in mine),
        good_s=max(good_at(fit) for fit in mine),
        mean_good_s=sum(map(good_at, race)) / len(race),
        best=best,
        metrics=metrics,
    )


def good_at(fit: Seen) -> float:
    """When the loss of a fit had come 95 % of its way."""
    first, last = fit.curve[0][1], fit.curve[-1][1]
    return next(at_s for at_s, loss in fit.curve if loss <= first - GOOD * (first - last))


def leads_from(fit: Seen, race: list[Seen]) -> float:
    """When a fit's loss first fell below every final loss of the other candidates, or its end if it never did."""
    others = [other.curve[-1][1] for other in race if other.params != fit.params]
    least = min(others, default=float("inf"))
    return next((at_s for at_s, loss in fit.curve if loss <= least), fit.curve[-1][0])

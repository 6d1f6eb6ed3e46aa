"""A search in full, as a race, and stopped after a constant number of iterations: what each costs and finds.

Every seed is another split of the data into folds and held-out rows. "Near" is the share of seeds in which the model is
not worse on the held-out rows than that of the full search by more than one standard error; "worse by" the median
difference in standard errors. Losses: log loss of classifiers, squared error of regressions.
"""

import os
import time
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct, to_builtins

from slaq.bench._output import cores_option, emit, format_option
from slaq.bench._race_searches import PARTITIONS, SEARCHES, data, held_out
from slaq.workload.session import session
from slaq.workload.usage import held_core_s

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FULL = "full"
SHARES = {"racing": (1 / 9, 1 / 3), "constant 1/9": (1 / 9,), "constant 1/3": (1 / 3,)}
"""Every way but the full one: rungs as shares of the iterations; one rung is a constant number."""
LISTENERS_S = 0.5
"""What Spark's listeners may lag behind the tasks that they count."""


class Outcome(Struct, frozen=True):
    """One search."""

    way: str
    seed: int
    core_s: float
    """Core-seconds that the tasks of the search held, the last fit on all rows included."""
    elapsed_s: float
    loss: float
    error: float
    """Standard error of the held-out loss."""
    chosen: str


@click.command(help=__doc__)
@click.option(
    "--search",
    "kind",
    type=click.Choice(list(SEARCHES)),
    default="logistic",
    show_default=True,
    help="What is searched.",
)
@click.option("--data", "path", default=None, help="A .libsvm or .parquet file; without it rows are drawn.")
@click.option("--label", default="label", show_default=True, help="The label's column in a .parquet file.")
@click.option("--seeds", default=5, show_default=True, type=click.IntRange(min=1), help="Splits of the data.")
@click.option("--rows", default=6_000, show_default=True, type=click.IntRange(min=200), help="Training and held-out.")
@click.option("--iterations", default=45, show_default=True, type=click.IntRange(min=3), help="The most of one fit.")
@click.option(
    "--folds", default=2, show_default=True, type=click.IntRange(min=2), help="Folds of the cross-validation."
)
@click.option("--parallelism", default=4, show_default=True, type=click.IntRange(min=1), help="Fits at once.")
@cores_option
@format_option
def command(
    kind: str,
    path: str | None,
    label: str,
    seeds: int,
    rows: int,
    iterations: int,
    folds: int,
    parallelism: int,
    cores: int,
    output_format: str,
) -> None:
    outcomes: list[Outcome] = []
    spark = session("FIFO", cores)
    try:
        for seed in range(-1, seeds):
            # The first round only warms the JVM up.
            train, rest = data(spark, kind, path, label, rows, abs(seed)).randomSplit([0.7, 0.3], seed=abs(seed))
            train, rest = train.repartition(PARTITIONS).cache(), rest.cache()
            train.count(), rest.count()
            ways = [FULL, *SHARES] if seed >= 0 else ["racing", "racing"]
            turned = ways[seed % len(ways) :] + ways[: seed % len(ways)]
            found = [search(spark, way, kind, seed, (train, rest), iterations, folds, parallelism) for way in turned]
            outcomes += found if seed >= 0 else []
            train.unpersist(), rest.unpersist()
    finally:
        spark.stop()
    source = os.path.basename(path) if path else "drawn rows"
    title = f"{kind} on {source}, {rows} rows, {iterations} iterations, {folds} folds, {seeds} seeds"
    emit(output_format, {"searches": [to_builtins(each) for each in outcomes]}, title, summary(outcomes))


def search(
    spark: "SparkSession",
    way: str,
    kind: str,
    seed: int,
    rows: "tuple[DataFrame, DataFrame]",
    iterations: int,
    folds: int,
    parallelism: int,
) -> Outcome:
    """Search on the training rows, judge the model on the others."""
    from pyspark.ml.evaluation import MulticlassClassificationEvaluator, RegressionEvaluator
    from pyspark.ml.tuning import ParamGridBuilder

    from slaq.tuning import CrossValidator, Race

    train, rest = rows
    first: Any = train.head()
    kinds = int(train.agg({"label": "max"}).head()[0]) + 1 if SEARCHES[kind].classifies else 0  # type: ignore[index]
    estimator, values = SEARCHES[kind].grid(iterations, len(first["features"]), kinds)
    grid = ParamGridBuilder()
    for name, several in values.items():
        grid = grid.addGrid(estimator.getParam(name), list(several))
    log_loss: Any = "logLoss"  # pyspark's hints lack it
    evaluator: Any = (
        MulticlassClassificationEvaluator().setMetricName(log_loss)
        if SEARCHES[kind].classifies
        else RegressionEvaluator(metricName="mse")
    )
    validator = CrossValidator(
        estimator=estimator,
        estimatorParamMaps=grid.build(),
        evaluator=evaluator,
        numFolds=folds,
        parallelism=parallelism,
        seed=max(seed, 0),
        racing=Race(shares=SHARES[way]) if way in SHARES else False,
    )
    time.sleep(LISTENERS_S)
    held, began = held_core_s(spark), time.monotonic()
    model: Any = validator.fit(train)
    elapsed_s = time.monotonic() - began
    time.sleep(LISTENERS_S)
    core_s = held_core_s(spark) - held
    loss, error = held_out(model.bestModel, rest, SEARCHES[kind].classifies)
    chosen = ", ".join(f"{name}={model.bestModel.getOrDefault(name)}" for name in values)
    return Outcome(way, seed, core_s, elapsed_s, loss, error, chosen)


def summary(outcomes: Sequence[Outcome]) -> list[dict[str, object]]:
    """One line for each way, beside the full search of the same seeds."""
    full = {each.seed: each for each in outcomes if each.way == FULL}
    lines: list[dict[str, object]] = []
    for way in (FULL, *SHARES):
        mine = [each for each in outcomes if each.way == way]
        worse = [(each.loss - full[each.seed].loss) / full[each.seed].error for each in mine]
        lines.append(
            {
                "search": way,
                "core-s": median(each.core_s for each in mine),
                "of full": median(each.core_s / full[each.seed].core_s for each in mine),
                "elapsed s": median(each.elapsed_s for each in mine),
                "held-out loss": median(each.loss for each in mine),
                "worse by": median(worse),
                "worst": max(worse),
                "near": f"{sum(each <= 1.0 for each in worse)}/{len(worse)}",
                "same choice": f"{sum(each.chosen == full[each.seed].chosen for each in mine)}/{len(mine)}",
            }
        )
    return lines

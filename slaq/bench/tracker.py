"""`slaq bench tracker`: what a tracking server that is gone costs a fit whose losses are to be logged there."""

import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import click

from slaq.bench._output import emit, format_option
from slaq.bench._session import spark_session
from slaq.errors import SlaqError
from slaq.sdk import mlflow_runs
from slaq.sdk.attach import attach

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BAR = 0.01
WARM_UP = 3
NONE, STOPPED, SILENT = "no run", "server stopped", "server silent"


@click.command()
@click.option("--rounds", default=30, show_default=True, type=click.IntRange(min=2), help="Fits of each kind, in turn.")
@click.option("--iterations", default=80, show_default=True, type=click.IntRange(min=1), help="The most of one fit.")
@click.option(
    "--rows", default=200_000, show_default=True, type=click.IntRange(min=100), help="Rows of the drawn data."
)
@format_option
def command(rounds: int, iterations: int, rows: int, output_format: str) -> None:
    """Fits outside of any MLflow run beside fits in runs whose server refuses connections or never answers.

    One driver with SLAQ attached; the kinds take turns. Ratios are of the times of one round; their median counts.
    """
    with spark_session("local[2]") as spark, away() as addresses, attach(spark, progress=False, archive="off"):
        times = measure(spark, addresses, rounds, iterations, rows)
    shown: list[dict[str, Any]] = []
    for kind in times:
        ratios = sorted(with_run / without for with_run, without in zip(times[kind], times[NONE], strict=True))
        lower, upper = (ratios[len(ratios) * quarter // 4] - 1.0 for quarter in (1, 3))
        row = {"fits": kind, "median s": median(times[kind]), "added": median(ratios) - 1.0}
        shown.append({**row, "lower quartile": lower, "upper quartile": upper})
    facts = {"rounds": rounds, "seconds": times, "runs": shown, "passed": all(row["added"] < BAR for row in shown)}
    emit(output_format, facts, f"Fits of {iterations} iterations while MLflow is away; bar: {BAR:.0%} added", shown)


@contextmanager
def away() -> Iterator[dict[str, str]]:
    """An address that refuses connections and one that takes them and never answers, by kind."""
    with socket.socket() as refusing, socket.socket() as silent:
        refusing.bind(("127.0.0.1", 0))
        silent.bind(("127.0.0.1", 0))
        silent.listen(64)
        named = {STOPPED: refusing, SILENT: silent}
        yield {kind: f"http://127.0.0.1:{each.getsockname()[1]}" for kind, each in named.items()}


def measure(
    spark: "SparkSession", addresses: dict[str, str], rounds: int, iterations: int, rows: int
) -> dict[str, list[float]]:
    """Seconds of every fit, by kind."""
    try:
        import mlflow
    except ImportError as error:
        remedy = "run: pip install mlflow-skinny sqlalchemy alembic"
        raise SlaqError(f"`slaq bench tracker` needs {error.name}; {remedy}") from None
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.feature import VectorAssembler

    columns = [f"rand({n}) AS x{n}" for n in range(8)]
    table = spark.range(0, rows, 1, 2).selectExpr(*columns, "double(rand(9) < rand(0)) AS label")
    data = VectorAssembler(inputCols=[f"x{n}" for n in range(8)], outputCol="features").transform(table).cache()
    data.count()
    estimator = LogisticRegression(maxIter=iterations, tol=0.0)
    times: dict[str, list[float]] = {kind: [] for kind in (NONE, *addresses)}
    with tempfile.TemporaryDirectory(prefix="slaq-runs-") as folder:
        mlflow.set_tracking_uri(f"sqlite:///{Path(folder) / 'runs.db'}")
        for number in range(WARM_UP + rounds):
            kinds = list(times)
            for kind in kinds[number % 3 :] + kinds[: number % 3]:
                run = mlflow.start_run() if kind in addresses else None
                if run is not None:
                    mlflow_runs.servers[run.info.run_id] = addresses[kind]  # as if it had gone since the run began
                began = time.perf_counter()
                estimator.fit(data)
                took = time.perf_counter() - began
                mlflow.end_run()
                if number >= WARM_UP:
                    times[kind].append(took)
    return times

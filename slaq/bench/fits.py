"""`slaq bench fits`: does a driver keep anything of fits that are over?"""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import click

import slaq
from slaq.bench._output import emit, format_option
from slaq.bench._session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BAR = 1.1
"""Live heap at the end, at most, relative to that after the first tenth."""
MB = 1024.0**2
FEW_KEPT = {f"spark_{what}": "100" for what in ("ui_retainedJobs", "ui_retainedStages", "sql_ui_retainedExecutions")}
"""What Spark's own UI remembers, full before the first tenth is over."""


@click.command()
@click.option("--fits", default=20_000, show_default=True, type=click.IntRange(min=10), help="How many fits.")
@click.option("--parallelism", default=4, show_default=True, type=click.IntRange(min=1), help="Fits at once.")
@format_option
def command(fits: int, parallelism: int, output_format: str) -> None:
    """Thousands of tiny MLlib fits in one driver with SLAQ.

    After every tenth of them: the live heap of the JVM after a collection, and how many names of pools Spark's UI
    knows, which it never forgets.
    """
    from pyspark.ml.linalg import Vectors

    with spark_session("local[2]", **FEW_KEPT) as spark:
        slaq.attach(spark, progress=False, archive="off")
        points = [(float(i % 7), Vectors.dense(float(i), 1.0)) for i in range(20)]
        data = spark.createDataFrame(points, ["label", "features"]).coalesce(1).cache()
        rows = []
        began_s = time.monotonic()
        for tenth in range(1, 11):
            run(data, fits // 10, parallelism)
            rows.append({"fits": tenth * (fits // 10), "s": time.monotonic() - began_s, **kept(spark)})
        slaq.detach()
    ratio = growth(rows)
    facts = {"runs": rows, "heap_ratio": ratio, "bar": BAR, "passed": passed(rows)}
    emit(output_format, facts, f"{fits} fits in one driver: live heap × {ratio:.3f} (bar {BAR})", rows)


def growth(rows: Sequence[Mapping[str, float]]) -> float:
    """The live heap at the end relative to that after the first tenth."""
    return rows[-1]["live heap, MB"] / rows[0]["live heap, MB"]


def passed(rows: Sequence[Mapping[str, float]]) -> bool:
    """Whether the heap stayed, and no name of a pool came."""
    return growth(rows) <= BAR and rows[-1]["pool names"] == rows[0]["pool names"]


def run(data: "DataFrame", fits: int, parallelism: int) -> None:
    """So many fits, `parallelism` at a time."""
    from pyspark.ml.regression import LinearRegression

    def fit(_: int) -> None:
        LinearRegression(solver="normal").fit(data)

    with ThreadPoolExecutor(parallelism) as threads:
        list(threads.map(fit, range(fits)))


def kept(spark: "SparkSession") -> dict[str, Any]:
    """What the JVM holds once it has collected its garbage."""
    jvm: Any = spark._jvm
    for _ in range(3):
        jvm.java.lang.System.gc()
        time.sleep(0.5)
    runtime = jvm.java.lang.Runtime.getRuntime()
    status: Any = spark.sparkContext._jsc.sc().statusStore().store()
    pools = status.count(jvm.java.lang.Class.forName("org.apache.spark.status.PoolData"))
    return {"live heap, MB": (runtime.totalMemory() - runtime.freeMemory()) / MB, "pool names": pools}

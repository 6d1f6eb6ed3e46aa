"""`slaq bench offers`: what does a round of offers cost in Spark's scheduler with a thousand pools?"""

from typing import TYPE_CHECKING, Any

import click

from slaq.bench._output import emit, format_option
from slaq.bench._session import spark_session
from slaq.spark.bridge import Bridge
from slaq.spark.records import Grant

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TASKS_PER_POOL = 200
BAR = 1.5
WARM_UP = 300
ROUNDS = {"no slot free": 0, "one slot free": 1, "eight slots free": 8}


@click.command()
@click.option("--pools", default=1000, show_default=True, help="Pools with tasks waiting.")
@click.option("--executors", default=100, show_default=True, help="Executors in every round of offers.")
@click.option("--rounds", default=1000, show_default=True, help="Measured rounds.")
@format_option
def command(pools: int, executors: int, rounds: int, output_format: str) -> None:
    """Rounds of offers by Spark's own TaskSchedulerImpl, one slot of one executor being free.

    SLAQ with a grant for every pool beside Spark's fair scheduler, in one JVM, with the same waiting task sets. The
    executors exist only in the offers.
    """
    with spark_session("local[1]") as spark:
        bridge = Bridge.install(spark)
        stages(spark, pools)
        grants = {usage.job: Grant(0.01, standby=n) for n, usage in enumerate(bridge.poll().jobs) if usage.pending}
        bridge.grant(grants, lease_s=3600)
        ours = {name: timing(spark, executors, free, rounds) for name, free in ROUNDS.items()}
        bridge.close()
        fair = {name: timing(spark, executors, free, rounds) for name, free in ROUNDS.items()}
    rows: list[dict[str, Any]] = [
        {"round": name, "SLAQ us": ours[name], "Spark FAIR us": fair[name], "ratio": ours[name] / fair[name]}
        for name in ours
    ]
    passed = all(row["ratio"] <= BAR for row in rows)
    facts = {"pools": len(grants), "executors": executors, "bar": BAR, "runs": rows, "passed": passed}
    title = f"A round of offers: {len(grants)} pools, {executors} executors (bar: {BAR} x FAIR)"
    emit(output_format, facts, title, rows)


def stages(spark: "SparkSession", pools: int) -> None:
    """One stage in each pool, which waits: the only slot is taken by the first of them."""
    context: Any = spark.sparkContext
    sleep = "java_method('java.lang.Thread', 'sleep', 600000L)"
    naps = spark.range(0, TASKS_PER_POOL, 1, TASKS_PER_POOL).selectExpr(sleep)
    rdd: Any = naps._jdf.queryExecution().toRdd().toJavaRDD()
    for number in range(pools):
        context.setLocalProperty("spark.scheduler.pool", f"pool-{number}")
        rdd.countAsync()
    context.setLocalProperty("spark.scheduler.pool", None)
    scheduler = context._jsc.sc().taskScheduler()
    waiting = 0
    while waiting < pools:
        children = scheduler.rootPool().schedulableQueue().toArray()
        waiting = sum(not child.schedulableQueue().isEmpty() for child in children)


def timing(spark: "SparkSession", executors: int, free: int, rounds: int) -> float:
    """Microseconds of a round, after the JVM has compiled it."""
    jvm: Any = spark._jvm
    scheduler: Any = spark.sparkContext._jsc.sc().taskScheduler()
    jvm.io.slaq.bridge.RoundTiming.nanos(scheduler, executors, free, WARM_UP)
    return float(jvm.io.slaq.bridge.RoundTiming.nanos(scheduler, executors, free, rounds)) / 1000

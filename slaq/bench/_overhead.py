"""The driver of one arm of the overhead benchmark: Spark as it is, or with agent and plugin, in a JVM of its own."""

import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from slaq.bench._session import QUIET
from slaq.spark.bridge import Bridge
from slaq.spark.jar import launch_conf
from slaq.workload.known_warnings import without_known_warnings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BRIDGE, PLAIN = "bridge", "plain"
STAGES = 40
POOLS = 50
TASKS_PER_POOL = 20
TOOK = "took "


def session(arm: str) -> "SparkSession":
    """FAIR in both arms; the plain one gets nothing of ours."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("slaq-bench-overhead")
    ours = launch_conf(strict=False) if arm == BRIDGE else {}
    for key, value in {**QUIET, **ours}.items():
        builder = builder.config(key, value)
    with without_known_warnings():
        spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    if arm == BRIDGE:
        Bridge.install(spark)
    return spark


def many_stages(spark: "SparkSession") -> None:
    """The shape of a training run: one short stage after the other, in one thread."""
    numbers: Any = spark.range(0, 800_000, 1, 8)._jdf.javaRDD()
    for _ in range(STAGES):
        numbers.count()


def many_pools(spark: "SparkSession") -> None:
    """Empty tasks in fifty pools at once: all the time goes into launching."""
    empty: Any = spark.range(0, TASKS_PER_POOL, 1, TASKS_PER_POOL)._jdf.javaRDD()

    def job(pool: int) -> None:
        # Each of these threads lives for one job, so the property needs no way back.
        spark.sparkContext.setLocalProperty("spark.scheduler.pool", f"pool-{pool}")
        empty.count()

    threads = [threading.Thread(target=job, args=(pool,)) for pool in range(POOLS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


WORK = {"stages": many_stages, "pools": many_pools}


def main() -> None:
    """Does the work that each line names and prints the seconds it took."""
    spark = session(sys.argv[1])
    jvm: Any = spark._jvm
    for line in iter(sys.stdin.readline, ""):
        work = WORK[line.strip()]
        # Garbage of the round before is not this round's.
        jvm.java.lang.System.gc()
        started = time.perf_counter()
        work(spark)
        print(f"{TOOK}{time.perf_counter() - started}", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()

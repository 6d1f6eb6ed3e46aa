"""Spark sessions for measurements: quiet, one after the other in one JVM, with the bridge loaded at start."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from slaq.spark.jar import launch_conf
from slaq.workload.known_warnings import without_known_warnings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUIET: Mapping[str, str] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.scheduler.mode": "FAIR",
    # The scheduler's agent would change the grants that are measured here; the bridge is installed by hand.
    "spark.slaq.enabled": "false",
}


@contextmanager
def spark_session(master: str, **conf: str) -> Iterator["SparkSession"]:
    """A session that ends with the block; keys are given with underscores in place of dots."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("slaq-bench")
    extra = {key.replace("_", "."): value for key, value in conf.items()}
    for key, value in {**QUIET, **launch_conf(strict=True), **extra}.items():
        builder = builder.config(key, value)
    with without_known_warnings():
        spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    finally:
        spark.stop()

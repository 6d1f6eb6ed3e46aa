"""Spark sessions for measurements: the same for every policy, but for the scheduling mode that a policy is about."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from slaq.spark.jar import jar_path
from slaq.workload.known_warnings import without_known_warnings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUIET_LOG = Path(__file__).with_name("log4j2-quiet.properties")


def java_options(probe: bool) -> str:
    """Options of the driver's JVM; the loss probe is an agent that only watches."""
    quiet = f"-Dlog4j2.configurationFile={QUIET_LOG.as_uri()}"
    return f"{quiet} -javaagent:{jar_path()}" if probe else quiet


def session(
    mode: str,
    cores: int,
    memory: str = "3g",
    probe: bool = True,
    master: str | None = None,
    more: Mapping[str, str] | None = None,
) -> "SparkSession":
    """A session with Spark's FIFO or FAIR scheduler and nothing of SLAQ but, if asked for, the loss probe; local
    unless a master is given. `more` are further settings.

    Only the first session of a process starts a JVM; the others run in the same one, which is warm by then. Its
    memory and its options stay those of the first.
    """
    from pyspark.sql import SparkSession

    # Workers must find this package and numpy, so they run the interpreter that runs the driver.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    conf = {
        "spark.scheduler.mode": mode,
        "spark.driver.memory": memory,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": java_options(probe),
        "spark.sql.shuffle.partitions": str(2 * cores),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if master is not None:
        # One executor as wide as the cluster for every application; who runs is the business of the policy.
        conf |= {"spark.cores.max": str(cores), "spark.executor.cores": str(cores), "spark.executor.memory": memory}
    conf |= more or {}
    builder = SparkSession.builder.master(master or f"local[{cores}]").appName("slaq-workload")
    for key, value in conf.items():
        builder = builder.config(key, value)
    with without_known_warnings():
        started = builder.getOrCreate()
    started.sparkContext.setLogLevel("ERROR")
    return started

"""One Spark session for the tests of each file, with the agent loaded when the JVM starts.

A worker runs files in any order, and a process has one Spark context at a time: the next file would stop a session that
outlived its own.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from slaq.bench._tasks import sleep_tasks
from slaq.spark.bridge import Bridge
from slaq.spark.jar import launch_conf
from slaq.spark.records import grantable
from tests import short_lived

QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    # No plugin and hence no scheduler's agent: these tests install the bridge and make the grants.
    "spark.slaq.enabled": "false",
    "spark.scheduler.mode": "FAIR",
}


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    """`local[2]` with the agent loaded by `-javaagent`."""
    builder = SparkSession.builder.master("local[2]").appName("slaq-tests")
    for key, value in {**QUIET, **launch_conf(strict=True)}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    # The first query loads half of Spark SQL; no test should measure that.
    sleep_tasks(session, 2, 1)
    yield session
    session.stop()


@pytest.fixture
def bridge(spark: SparkSession) -> Iterator[Bridge]:
    """The session's bridge, strict, without grants before and after."""
    bridge = Bridge.install(spark, strict=True)
    yield bridge
    left = [usage.job for usage in bridge.poll().jobs if not usage.ended]
    bridge.grant({job: None for job in left if grantable(job)}, lease_s=1)
    bridge.set_strict(True)


@pytest.fixture(scope="session")
def run_driver(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Run a Python program as a driver of its own (another master, another start) and return what it printed.

    With `whole` the finished process is returned, to read its stderr too.
    """

    def run(program: str, *arguments: str, timeout_s: float = 240, whole: bool = False) -> Any:
        path = tmp_path_factory.mktemp("driver") / "program.py"
        path.write_text(program)
        root = str(Path(__file__).resolve().parents[2])
        environment = {**os.environ, **short_lived.JVM, "PYTHONPATH": root}
        command = [sys.executable, str(path), *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout_s, check=False)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done if whole else done.stdout

    return run

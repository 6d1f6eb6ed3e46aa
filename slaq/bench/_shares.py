"""Hold jobs to asked shares of the cores and see what CPU time they got; also the driver of one application."""

import json
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from slaq.bench._session import spark_session
from slaq.bench._tasks import burn_tasks, calibrate, keep_busy
from slaq.spark.bridge import Bridge

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TASK_MS = 20.0
STAGE_TASKS = 40
SETTLE_S = 1.0
LEASE_S = 3600.0
READY = "hungry"


def settle() -> None:
    """Give the buckets a moment to leave their start behind."""
    time.sleep(SETTLE_S)


def task_rows(spark: "SparkSession") -> int:
    """The work of one task; the same for all jobs compared, because launching a task costs all of them the same."""
    return calibrate(spark, TASK_MS)


def use(
    spark: "SparkSession",
    cores: Mapping[str, float | None],
    seconds: float,
    rows: int,
    until_start: Callable[[], None] = settle,
) -> dict[str, tuple[float, float]]:
    """Seconds of CPU and of slots held by each job over a window, all of them hungry and held to their cores.

    None grants nothing; `rows` is the work of a task, as `task_rows` gives it. On a busy machine tasks of equal work
    hold their slots for unequal times; the buckets charge what is held, so that column tells the bridge's error from
    the machine's.
    """
    bridge = Bridge.install(spark, strict=True)
    with keep_busy(bridge, list(cores), lambda: burn_tasks(spark, STAGE_TASKS, rows), threads_per_job=2):
        bridge.grant(cores, lease_s=LEASE_S)
        until_start()
        before = bridge.poll()
        time.sleep(seconds)
        after = bridge.poll()
    was, now = before.job, after.job
    return {job: (now(job).cpu_s - was(job).cpu_s, now(job).held_s - was(job).held_s) for job in cores}


def main() -> None:
    """One of several applications on a cluster; answers one order after the other, each as a line of JSON.

    Without jobs an order asks for the work of a task. Otherwise the driver prints when its jobs have tasks
    waiting, waits for a line, measures, and prints their use.
    """

    def ready() -> None:
        print(READY, flush=True)
        sys.stdin.readline()
        settle()

    conf = {"spark_cores_max": sys.argv[2], "spark_executor_memory": "512m", "spark_executor_cores": "1"}
    with spark_session(sys.argv[1], **conf) as spark:
        for line in iter(sys.stdin.readline, ""):
            order = json.loads(line)
            jobs = order.get("cores")
            answer = use(spark, jobs, order["seconds"], order["rows"], ready) if jobs else {"rows": task_rows(spark)}
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

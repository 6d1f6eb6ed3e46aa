"""One of several applications on a cluster: threads of Spark jobs that always want more cores than there are.

A program for spark-submit: `_application.py NAME FOLDER SECONDS JOBS TASK_MS`. When Spark is up it writes `NAME.ready`
into the folder, waits for `go`, and works for the seconds. Spark's event log in the folder shows what ran when.
"""

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession

import slaq
from slaq.bench._tasks import sleep_tasks

STAGE_TASKS = 16
STAGES_PER_JOB = 3
"""A training run of so many iterations, then the next one: that jobs come and go is part of what is measured."""
PAUSE_S = 3.0
"""What a driver does between two iterations without Spark: its cores should not wait for it."""
GO, READY = "go", ".ready"


def main(name: str, folder: Path, seconds: float, jobs: int, task_ms: int) -> None:
    """Other work in one thread, training runs one after the other in `jobs` more, the last of which often pauses."""
    spark = SparkSession.builder.appName(name).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    sleep_tasks(spark, STAGE_TASKS, 1)
    (folder / f"{name}{READY}").touch()
    while not (folder / GO).exists():
        time.sleep(0.02)
    until = time.monotonic() + seconds

    def stage() -> None:
        sleep_tasks(spark, STAGE_TASKS, task_ms)

    pauses = [*[0.0] * (jobs - 1), PAUSE_S]
    threads = [
        threading.Thread(target=_train, args=(f"{name}-{number}", stage, pause_s, until))
        for number, pause_s in enumerate(pauses)
    ]
    threads.append(threading.Thread(target=_work, args=(stage, until)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spark.stop()


def _work(stage: Callable[[], None], until: float) -> None:
    while time.monotonic() < until:
        stage()


def _train(name: str, stage: Callable[[], None], pause_s: float, until: float) -> None:
    while time.monotonic() < until:
        with slaq.job(name):
            for iteration in range(STAGES_PER_JOB):
                stage()
                slaq.report(1.0 / (1 + iteration))
                time.sleep(pause_s)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))

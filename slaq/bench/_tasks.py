"""Spark work of known shape for measurements: tasks that hold a slot, and tasks that burn a core."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from slaq.spark.bridge import Bridge

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def sleep_tasks(spark: "SparkSession", tasks: int, task_ms: int) -> None:
    """One stage of `tasks` tasks that each hold a slot for `task_ms` and use no CPU: exact on a busy machine too."""
    naps = spark.range(0, tasks, 1, tasks).selectExpr(f"java_method('java.lang.Thread', 'sleep', {task_ms}L)")
    naps.write.format("noop").mode("overwrite").save()


def burn_tasks(spark: "SparkSession", tasks: int, rows_per_task: int) -> None:
    """One stage of `tasks` tasks that hash numbers; `calibrate` tells how many rows make a second."""
    rows = spark.range(0, tasks * rows_per_task, 1, tasks).selectExpr("hash(hash(id))")
    rows.write.format("noop").mode("overwrite").save()


def calibrate(spark: "SparkSession", task_ms: float) -> int:
    """Rows that one burning task hashes in about `task_ms` on this machine, once compiled code runs."""
    for _ in range(8):
        burn_tasks(spark, 2, 500_000)
    started = time.perf_counter()
    burn_tasks(spark, 2, 2_000_000)
    return max(1000, int(2_000_000 * task_ms / 1000 / (time.perf_counter() - started)))


@contextmanager
def keep_busy(bridge: Bridge, jobs: list[str], stage: Callable[[], None], threads_per_job: int = 1) -> Iterator[None]:
    """Run `stage` over and over in each job's pool until the block ends.

    With two threads a job always has tasks waiting: one's stage covers the pause between the other's stages.
    """
    stop = threading.Event()
    failures: list[BaseException] = []

    def work(job: str) -> None:
        try:
            with bridge.job(job):
                while not stop.is_set():
                    stage()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(job,), daemon=True) for job in jobs * threads_per_job]
    for thread in threads:
        thread.start()
    try:
        wait_until(lambda: {u.job for u in bridge.poll().jobs if not u.ended} >= set(jobs), timeout_s=30)
        yield
    finally:
        stop.set()
        # Jobs that are still throttled finish their stage at full speed.
        bridge.grant(dict.fromkeys(jobs), lease_s=60)
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]


def wait_until(condition: Callable[[], bool], timeout_s: float) -> float:
    """Poll every few milliseconds until the condition holds; returns the seconds it took."""
    started = time.perf_counter()
    while not condition():
        if time.perf_counter() - started > timeout_s:
            raise TimeoutError(f"not within {timeout_s} s")
        time.sleep(0.004)
    return time.perf_counter() - started

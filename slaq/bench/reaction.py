"""`slaq bench reaction`: how soon does a changed grant show in the tasks that run?"""

import statistics
import time
from typing import Any

import click

from slaq.bench._output import emit, format_option
from slaq.bench._session import spark_session
from slaq.bench._tasks import keep_busy, sleep_tasks, wait_until
from slaq.spark.bridge import Bridge

JOB = "moving"
BAR_S = 0.1


@click.command()
@click.option("--changes", default=20, show_default=True, help="How many times the grant goes up and down.")
@click.option("--task-ms", default=50, show_default=True, help="Length of one task; it holds a slot and uses no CPU.")
@format_option
def command(changes: int, task_ms: int, output_format: str) -> None:
    """A hungry job on two slots whose grant jumps between 0.2 and 2 cores.

    Measured from the grant until the number of running tasks follows it; the worst change is held against the bar.
    """
    with spark_session("local[2]") as spark:
        bridge = Bridge.install(spark, strict=True)
        sleep_tasks(spark, 20, 1)
        with keep_busy(bridge, [JOB], lambda: sleep_tasks(spark, 400, task_ms), threads_per_job=2):
            up, down = [], []
            for _ in range(changes):
                up.append(change(bridge, cores=2.0, running=2))
                time.sleep(0.3)
                down.append(change(bridge, cores=0.2, running=0))
                time.sleep(0.3)
    limit = BAR_S + task_ms / 1000
    rows = [line("0.2 to 2 cores, until 2 tasks run", up, limit), line("2 to 0.2 cores, until none runs", down, limit)]
    facts = {"task_ms": task_ms, "bar_s": limit, "runs": rows, "passed": all(row["worst / bar"] <= 1 for row in rows)}
    emit(output_format, facts, f"Reaction to a changed grant (bar: 100 ms and one task of {task_ms} ms)", rows)


def change(bridge: Bridge, cores: float, running: int) -> float:
    """Seconds from the grant until that many tasks run."""
    bridge.grant({JOB: cores}, lease_s=60)
    return wait_until(lambda: bridge.poll().job(JOB).running == running, 10)


def line(name: str, times_s: list[float], limit_s: float) -> dict[str, Any]:
    """Median, ninth decile and worst of one direction, and the worst against the bar."""
    p90 = statistics.quantiles(times_s, n=10, method="inclusive")[-1]
    return {
        "change": name,
        "median ms": 1000 * statistics.median(times_s),
        "p90 ms": 1000 * p90,
        "worst ms": 1000 * max(times_s),
        "bar ms": 1000 * limit_s,
        "worst / bar": max(times_s) / limit_s,
    }

"""`slaq bench applications`: several applications on one cluster; do their tasks together keep to its cores?"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click
import pyspark

from slaq.bench import _application
from slaq.bench._occupancy import occupancy
from slaq.bench._output import emit, format_option
from slaq.errors import SlaqError
from slaq.spark.records import Grant

SETTLE_S = 3.0
"""After the start together, before it counts."""
START_S = 300.0
BURST_S = Grant(0.0).burst_s
SMALL_JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"


@click.command(name="applications")
@click.option("--applications", "counts", default="2,8", show_default=True, help="How many; one run each.")
@click.option("--seconds", default=30.0, show_default=True, help="Time measured.")
@click.option("--workers", default=1, show_default=True, help="Workers of the cluster.")
@click.option("--cores", default=4, show_default=True, help="Cores of each; the tasks sleep, so they need not exist.")
@click.option("--jobs", default=2, show_default=True, help="Training runs at once in each application.")
@click.option("--task-ms", default=100, show_default=True, help="Length of a task.")
@click.option("--epoch", "epoch_s", default=1.0, show_default=True, help="Seconds between two decisions.")
@format_option
def command(
    counts: str, seconds: float, workers: int, cores: int, jobs: int, task_ms: int, epoch_s: float, output_format: str
) -> None:
    """Real applications under spark-submit on `slaq cluster up`, with tasks waiting and training runs coming and going.

    What ran when is taken from the drivers' event logs, to the millisecond.
    """
    runs = [measure(count, seconds, workers, cores, jobs, task_ms, epoch_s) for count in _numbers(counts)]
    facts = {
        "seconds": seconds, "jobs": jobs, "task_ms": task_ms, "epoch_s": epoch_s, "runs": runs,
        "passed": all(row["ok"] == "yes" for row in rows(runs, epoch_s)),
    }  # fmt: skip
    title = f"{workers * cores} cores for all, {jobs} training runs and other work in each, tasks of {task_ms} ms"
    emit(output_format, facts, f"{title}, {seconds:g} s", rows(runs, epoch_s))


def rows(runs: list[dict[str, Any]], epoch_s: float) -> list[dict[str, Any]]:
    """The measures of every run with their bars.

    A bucket saves up `BURST_S` seconds of its cores, and lets at most twice its cores run while it spends them: so
    much all applications together may be above the capacity, in core-seconds and in tasks.
    """
    found = []
    for run in runs:
        cores = run["cores"]
        for what, key, bar in (
            ("tasks running, mean", "mean", None),
            ("tasks running, 99 % of the time", "p99", None),
            ("tasks running, most", "most", cores + BURST_S * cores),
            ("core-seconds above the cores, worst window", "surplus_s", BURST_S * cores),
            ("longest time a core idles while a task waits (s)", "longest_idle_s", epoch_s),
            ("share of core time idle while a task waits", "idle_share", None),
        ):
            good = bar is None or run[key] <= bar
            shown = "" if bar is None else f"≤ {bar:g}"
            found.append(
                {"measure": what, "applications": run["applications"], "measured": run[key], "bar": shown}
                | {"ok": "yes" if good else "no"}
            )
    return found


def measure(
    count: int, seconds: float, workers: int, cores: int, jobs: int, task_ms: int, epoch_s: float
) -> dict[str, Any]:
    """One cluster, so many applications, one window."""
    with tempfile.TemporaryDirectory(prefix="slaq-applications-") as name, ExitStack() as running:
        folder = Path(name)
        conf = running.enter_context(_cluster(folder / "cluster", workers, cores, count, epoch_s))
        arguments = [str(folder), str(seconds + SETTLE_S + 1.0), str(jobs), str(task_ms)]
        names = [f"app{number}" for number in range(count)]
        programs = [running.enter_context(_program(name, conf, folder, arguments)) for name in names]
        _wait_for([folder / f"{name}{_application.READY}" for name in names], programs, folder)
        (folder / _application.GO).touch()
        start = time.time() + SETTLE_S
        if [program.wait(START_S + seconds) for program in programs] != [0] * count:
            raise SlaqError(f"an application failed: {_tails(folder)}")
        seen = occupancy(folder.glob("app-*")).between(start, start + seconds)
    capacity = workers * cores
    return {
        "applications": count,
        "cores": capacity,
        "mean": seen.mean(),
        "most": seen.most(),
        "p99": seen.percentile(0.99),
        "surplus_s": seen.surplus_s(capacity),
        "longest_idle_s": seen.longest_idle_s(capacity),
        "idle_share": seen.idle_share(capacity),
    }


@contextmanager
def _cluster(folder: Path, workers: int, cores: int, applications: int, epoch_s: float) -> Iterator[Path]:
    """`slaq cluster up` and, at the end, `down`; its conf folder."""
    command = [sys.executable, "-m", "slaq.cli", "cluster"]
    size = [f"--workers={workers}", f"--cores={cores}", f"--applications={applications}", "--memory=512m"]
    try:
        up = [*command, "up", f"--dir={folder}", *size, f"--epoch={epoch_s}", "--format=json"]
        there = subprocess.run(up, capture_output=True, text=True)
        if there.returncode:
            raise SlaqError(f"the cluster did not start: {there.stderr.strip()}")
        yield Path(json.loads(there.stdout)["spark_conf_dir"])
    finally:
        subprocess.run([*command, "down", f"--dir={folder}"], capture_output=True)


@contextmanager
def _program(name: str, conf: Path, folder: Path, arguments: list[str]) -> Iterator["subprocess.Popen[bytes]"]:
    """One application under spark-submit, as a user of the cluster runs it; small, and with an event log."""
    settings = {
        "spark.driver.memory": "512m",
        "spark.executor.extraJavaOptions": SMALL_JVM,
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": folder.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    options = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    submit = str(Path(pyspark.__file__).parent / "bin" / "spark-submit")
    environment = os.environ | {
        "SPARK_CONF_DIR": str(conf),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_SUBMIT_OPTS": SMALL_JVM,
    }
    with (folder / f"{name}.log").open("wb") as log:
        program = subprocess.Popen(
            [submit, *options, _application.__file__, name, *arguments], env=environment, stdout=log, stderr=log
        )
    try:
        yield program
    finally:
        program.kill()
        program.wait()


def _numbers(text: str) -> list[int]:
    try:
        return [max(int(part), 1) for part in text.split(",")]
    except ValueError:
        raise SlaqError(f"--applications is {text!r}; give numbers, such as 2,8") from None


def _wait_for(files: list[Path], programs: list["subprocess.Popen[bytes]"], folder: Path) -> None:
    deadline = time.monotonic() + START_S
    while not all(file.exists() for file in files):
        if time.monotonic() > deadline or any(program.poll() is not None for program in programs):
            raise SlaqError(f"an application did not start: {_tails(folder)}")
        time.sleep(0.1)


def _tails(folder: Path) -> str:
    return "\n".join(log.read_text("utf-8", "replace")[-500:] for log in folder.glob("*.log"))

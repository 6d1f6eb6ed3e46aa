"""One training job alone: what SLAQ costs where it has nothing to decide, against Spark without anything of ours.

Two drivers, one plain and one with SLAQ attached, take turns at the same fit; only one of them works at a time.
"""

import json
import subprocess
import sys
from statistics import median
from typing import Any

import click

from slaq.bench._output import cores_option, emit, format_option
from slaq.errors import SlaqError
from slaq.workload.algorithms import ALGORITHMS

KINDS = ("plain", "slaq")


@click.command(help=__doc__)
@click.option(
    "--algorithm",
    "name",
    default="LogReg",
    show_default=True,
    type=click.Choice(list(ALGORITHMS)),
    help="What is trained.",
)
@click.option("--fits", default=9, show_default=True, type=click.IntRange(min=1), help="Measured fits of each driver.")
@click.option("--iterations", default=60, show_default=True, type=click.IntRange(min=1), help="The most of one fit.")
@click.option("--rows", default=1.0, show_default=True, help="Multiplies the rows of the data.")
@cores_option
@format_option
def command(name: str, fits: int, iterations: int, rows: float, cores: int, output_format: str) -> None:
    seconds, models = measure(name, fits, iterations, rows, cores)
    middle = {kind: median(seconds[kind]) for kind in KINDS}
    ratios = [with_slaq / plain for with_slaq, plain in zip(seconds["slaq"], seconds["plain"], strict=True)]
    facts = {
        "algorithm": name,
        "seconds": seconds,
        "median_s": middle,
        "slowdown": median(ratios) - 1.0,
        "largest_model_difference": max(abs(a - b) for a, b in zip(*models.values(), strict=True)),
    }
    rows_shown: list[dict[str, object]] = [
        {"driver": kind, "fits": fits, "median s": middle[kind], "fastest s": min(seconds[kind])} for kind in KINDS
    ]
    emit(output_format, facts, f"{name} alone, {iterations} iterations on {cores} cores", rows_shown)
    if output_format == "table":
        click.echo(f"slower with SLAQ, median of the pairs: {median(ratios) - 1.0:+.1%}")
        click.echo(f"largest difference between the models: {facts['largest_model_difference']:.1e}")


def measure(
    name: str, fits: int, iterations: int, rows: float, cores: int
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Seconds of every fit and the model of the last, by kind of driver; two fits of each warm up and are dropped."""
    drivers = {kind: start(kind, name, iterations, rows, cores) for kind in KINDS}
    seconds: dict[str, list[float]] = {kind: [] for kind in KINDS}
    models: dict[str, list[float]] = {}
    try:
        for turn in range(fits + 2):
            for kind in KINDS if turn % 2 else reversed(KINDS):
                answer = ask(drivers[kind])
                models[kind] = answer["model"]
                if turn > 1:
                    seconds[kind].append(answer["seconds"])
    finally:
        for driver in drivers.values():
            assert driver.stdin is not None
            driver.stdin.close()
            driver.wait()
    return seconds, models


def start(kind: str, name: str, iterations: int, rows: float, cores: int) -> subprocess.Popen[str]:
    """A driver that fits once for every line it reads."""
    arguments = (kind, name, str(iterations), str(rows), str(cores))
    command_line = [sys.executable, "-m", "slaq.workload.single", *arguments]
    return subprocess.Popen(command_line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(driver: subprocess.Popen[str]) -> dict[str, Any]:
    """One more fit."""
    assert driver.stdin is not None
    assert driver.stdout is not None
    driver.stdin.write("fit\n")
    driver.stdin.flush()
    line = driver.stdout.readline()
    if not line:
        raise SlaqError("a driver of the measurement ended early; its message is above")
    answer: dict[str, Any] = json.loads(line)
    return answer

"""`slaq bench coverage`: the iterative example programs of the pyspark wheel, plain and under `slaq submit`.

Each runs both ways at the same time, unmodified. The exit code and what it prints have to be the same, and every fit
has to appear as a job with its loss curve. Where the outputs differ the plain program runs once more: one that differs
from itself (it draws a seed in the JVM) is compared by its words.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import click

from slaq.bench._output import emit, format_option
from slaq.bench._programs import PROGRAMS, Program, feed, write_inputs
from slaq.driver.journal import read
from slaq.errors import SlaqError
from slaq.spark.submit import find_spark_home

QUIET = ("--conf", "spark.ui.enabled=false", "--conf", "spark.ui.showConsoleProgress=false")
LONGEST_S = 600.0
FEED_EVERY_S = 2.0
STREAMING, TRAINED = b"StreamingContext started", b"finished: treeAggregate at GradientDescent"
"""What Spark logs when a stream is up, and after each step of a training on it."""
ROUNDS_TRAINED = 20
"""Steps of training after which a streaming program is interrupted."""


@dataclass(frozen=True, slots=True)
class Run:
    """How one run of a program ended."""

    code: int
    printed: str
    wall_s: float


@click.command(help=__doc__)
@click.option("--only", multiple=True, metavar="NAME", help="Programs to run, such as ml/kmeans_example; default: all.")
@format_option
def command(only: tuple[str, ...], output_format: str) -> None:
    rows = []
    for program in chosen(only):
        row = compare(program)
        click.echo(f"{row['program']}: {row['verdict']}", err=True)
        rows.append(row)
    covered = sum(row["verdict"] == "covered" for row in rows)
    facts = {"programs": len(rows), "covered": covered, "rows": rows}
    emit(output_format, facts, f"{covered} of {len(rows)} programs covered", rows)
    if covered < len(rows):
        sys.exit(1)


def chosen(names: tuple[str, ...]) -> list[Program]:
    """The programs of these names, or all."""
    known = {program.name: program for program in PROGRAMS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SlaqError(f"{unknown[0]!r} is none of the programs; give one like {PROGRAMS[0].name}")
    return [known[name] for name in names] if names else list(PROGRAMS)


def compare(program: Program) -> dict[str, object]:
    """One line of the table."""
    spark_submit = str(find_spark_home(os.environ) / "bin" / "spark-submit")
    with tempfile.TemporaryDirectory(prefix="slaq-coverage-") as folder:
        journal = Path(folder, "jobs.jsonl")
        ours = [sys.executable, "-m", "slaq.cli", "submit", "--conf", f"spark.slaq.journal={journal}"]
        ours += ["--conf", "spark.slaq.archive=off"]
        with ThreadPoolExecutor() as pool:  # a starting program keeps one of two cores busy
            waited_for = pool.submit(run, [spark_submit], program, Path(folder, "plain"))
            with_slaq = run(ours, program, Path(folder, "slaq"))
            plain = waited_for.result()
        jobs = [job for job in read(journal) if job.losses] if journal.exists() else []
        printed = compared(plain, with_slaq, lambda: run([spark_submit], program, Path(folder, "again")))
    problems = [] if printed != "differs" else ["prints something else"]
    if plain.code and not program.feeds:
        problems.append(f"the plain program fails as well (exit code {plain.code})")
    if plain.code != with_slaq.code:
        problems.append(f"exit code {with_slaq.code} for {plain.code}")
    streams = program.name.startswith("mllib/streaming")
    if len(jobs) < program.fits or (len(jobs) > program.fits and not streams):
        problems.append(f"{len(jobs)} of {program.fits} fits seen")
    return {
        "program": program.name,
        "exit code": with_slaq.code,
        "printed": printed,
        "fits": len(jobs),
        "losses": sum(len(job.losses) for job in jobs),
        "estimator": ", ".join(sorted({job.estimator for job in jobs})),
        "plain s": plain.wall_s,
        "SLAQ s": with_slaq.wall_s,
        "verdict": "; ".join(problems) or "covered",
    }


def compared(plain: Run, with_slaq: Run, run_again: Callable[[], Run]) -> str:
    """Whether two runs printed the same, as far as the program does so by itself."""
    expected, got = normal(plain.printed), normal(with_slaq.printed)
    if expected == got:
        return "same"
    if normal(run_again().printed) != expected and words(plain.printed) == words(with_slaq.printed):
        return "varies, plain as well"
    return "differs"


def run(submit: list[str], program: Program, folder: Path) -> Run:
    """Run a program in a folder of its own that looks like the pyspark package, where it expects its data."""
    home = find_spark_home(os.environ)
    inputs = folder / "inputs"
    inputs.mkdir(parents=True)
    write_inputs(inputs)
    (folder / "data").symlink_to(home / "data")
    (folder / "examples").symlink_to(home / "examples")
    arguments = [argument.format(inputs=inputs) for argument in program.arguments]
    command = [*submit, "--master", f"local[{program.slots}]", *QUIET, program.path, *arguments]
    began = time.monotonic()
    python_path = os.pathsep.join(filter(None, [str(inputs), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": python_path}
    with Path(folder, "printed").open("w+b") as printed, Path(folder, "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=printed, stderr=log, env=environment)
        try:
            if program.feeds:
                _feed(process, inputs, folder / "log")
            process.wait(LONGEST_S)
        finally:
            process.kill()
            process.wait()
        printed.seek(0)
        text = printed.read().decode("utf-8", "replace")
    return Run(process.returncode, text, time.monotonic() - began)


def _feed(process: subprocess.Popen[bytes], inputs: Path, log: Path) -> None:
    """Bring files until the stream has trained on some, then interrupt it as a user would."""
    ends = time.monotonic() + LONGEST_S
    number = 0
    while process.poll() is None and time.monotonic() < ends:
        time.sleep(FEED_EVERY_S)
        text = log.read_bytes()
        if text.count(TRAINED) >= ROUNDS_TRAINED:
            break
        if STREAMING in text:
            feed(inputs, number)
            number += 1
    process.send_signal(signal.SIGTERM)


def normal(printed: str) -> str:
    """What a program printed, without what differs from run to run: identities, paths, times, blanks."""
    text = re.sub(r"_[0-9a-f]{12}\b|\b0x[0-9a-f]+|/\S*slaq-coverage-\S+|Time: \S+ \S+", "", printed)
    return re.sub(r"\s+", " ", text).strip()


def words(printed: str) -> set[str]:
    """The words in what a program printed; predictions of another model are other numbers in the same frame."""
    return set(re.findall(r"[A-Za-z]{3,}", normal(printed)))

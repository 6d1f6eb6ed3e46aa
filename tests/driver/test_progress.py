"""The progress of running fits: rows of their own on a terminal, a line in a notebook, nothing where nobody looks."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

import slaq
from slaq.driver.progress import Line, Progress, facts, rows
from slaq.driver.status import JobStatus, progress
from slaq.records import Standing
from tests import short_lived
from tests.driver.screen import Terminal

RUNNING = JobStatus(
    "fit-1", "KMeans_a1", "KMeans", iteration=12, loss=0.69314, delta=0.0012, cores=1.5, seconds_to_95=8.2
)
OTHER = JobStatus("fit-2", "GBT_b2", "GBT", iteration=1, loss=0.5)


def candidate(reg):
    name = f"LogisticRegression_a1 (regParam={reg})"
    return JobStatus(f"fit-{reg}", name, "LogisticRegression", group="g", iteration=3, loss=0.25)


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    found = Terminal()
    yield found
    found.close()


@pytest.fixture
def shown(terminal):
    """The progress display of a program whose stderr is the terminal."""
    return Progress(os.fdopen(os.dup(terminal.descriptor), "w"))


def below(terminal):
    """The rows that SLAQ has, without the rule above them."""
    lines = terminal.lines()
    rule = next((place for place, line in enumerate(lines) if line.startswith("─── SLAQ")), len(lines))
    return lines[rule + 1 :]


def test_a_job_shows_what_a_user_wants_to_know():
    assert facts(RUNNING) == "iteration 12 · loss 0.69314 · Δ 0.0012 · 1.5 cores · 95 % in 8 s"
    assert facts(OTHER) == "iteration 1 · loss 0.5 · all cores"


def test_candidates_stand_under_their_search_told_apart_by_parameters():
    found = rows([candidate(0.1), OTHER, candidate(0.2)], 10, 100)
    assert found[0].startswith("─── SLAQ ─")
    assert [row.split(" iteration")[0].rstrip() for row in found[1:]] == [
        "LogisticRegression_a1: 2 fits",
        "  regParam=0.1",
        "  regParam=0.2",
        "GBT_b2",
    ]
    assert len({row.index("iteration") for row in found[2:]}) == 1, "the facts stand in a column"


def test_what_does_not_fit_is_counted():
    found = rows([JobStatus(f"j{n}", f"j{n}", "custom", iteration=0, loss=1.0) for n in range(100)], 6, 80)
    assert len(found) == 6
    assert found[-1] == "… 100 fits run in all"


def test_a_name_cannot_drive_the_terminal():
    hostile = JobStatus("a", "a\x1b[2J\r\nb" + "x" * 10_000, "custom", iteration=0, loss=1.0)
    assert all(row.isprintable() for row in rows([hostile], 6, 80))


def test_rows_at_the_bottom_leave_the_rest_of_the_terminal_to_the_program(terminal, shown):
    for number in range(30):
        terminal.prints(f"printed {number}\n")
        shown.show([RUNNING, OTHER])
    assert below(terminal) == [f"KMeans_a1{' ' * 36}{facts(RUNNING)}"[:100], f"GBT_b2{' ' * 39}{facts(OTHER)}"]
    everything = [line for line in (*terminal.scrolled(), *terminal.lines()) if line.startswith("printed")]
    assert everything == [f"printed {number}" for number in range(30)], "nothing is overwritten, nothing comes twice"
    shown.show([])
    assert below(terminal) == []
    terminal.prints("after\n" * 3)
    assert terminal.lines().count("after") == 3
    for number in range(40):
        terminal.prints(f"{number}\n")
    assert terminal.lines()[-2:] == ["39", ""], "the whole terminal scrolls again"


def test_sparks_progress_bar_keeps_its_line(terminal, shown):
    terminal.prints("begin\n")
    for done in range(5):
        terminal.prints(f"\r[Stage 3:{'=' * done}>   ({done} + 2) / 5]")
        shown.show([RUNNING])
        lines = terminal.lines()
        assert [line for line in lines if "Stage" in line] == [f"[Stage 3:{'=' * done}>   ({done} + 2) / 5]"]
        assert len(below(terminal)) == 1
    terminal.prints("\r" + " " * 60 + "\r")
    assert [line for line in terminal.lines()[:-2] if line] == ["begin"]


def test_a_half_typed_line_stays_where_it_is(terminal, shown):
    terminal.prints(">>> model = ")
    shown.show([RUNNING])
    shown.show([RUNNING, OTHER])
    terminal.prints("est.fit(data)")
    assert terminal.lines()[0] == ">>> model = est.fit(data)"


def test_the_rows_follow_the_size_of_the_terminal(terminal, shown):
    shown.show([RUNNING])
    terminal.resize(12, 60)
    terminal.prints("small\n")
    shown.show([RUNNING])
    assert below(terminal)[-1].startswith("KMeans_a1")
    assert len(terminal.lines()) == 12
    terminal.resize(30, 100)
    shown.show([RUNNING])
    assert terminal.lines()[-1].startswith("KMeans_a1")
    terminal.resize(5, 100)
    shown.show([RUNNING])
    shown.close()


def test_a_terminal_that_is_gone_costs_the_display_only(terminal):
    stream = os.fdopen(os.dup(terminal.descriptor), "w")
    shown = Progress(stream)
    stream.close()
    shown.show([RUNNING])
    shown.close()


@pytest.mark.parametrize("term", ["dumb", ""])
def test_nothing_is_written_where_nobody_looks(terminal, monkeypatch, term):
    monkeypatch.setenv("TERM", term)
    simple = Progress(os.fdopen(os.dup(terminal.descriptor), "w"))
    for shown in (Progress(io.StringIO()), simple):
        assert not shown.due()
        shown.show([RUNNING])
    assert not any(terminal.lines())


def test_it_is_shown_twice_a_second(shown):
    assert shown.due()
    shown.show([RUNNING])
    assert not shown.due()
    shown.close()


def test_in_a_notebook_a_line_shows_the_job_that_moved_last():
    stream = io.StringIO()
    line = Line(stream)
    line.show([RUNNING, OTHER])
    line.show([JobStatus("fit-1", "KMeans_a1", "KMeans", iteration=13, loss=0.69), OTHER])
    latest = stream.getvalue().rpartition("\r")[2]
    assert latest.rstrip() == "SLAQ KMeans_a1 · iteration 13 · loss 0.69 · all cores · 1 more"
    line.close()
    assert stream.getvalue().endswith(" \r")
    assert "\n" not in stream.getvalue()


PROGRAM = """
import threading, time
import slaq
from pyspark.sql import SparkSession
from pyspark.ml.classification import LogisticRegression
from pyspark.ml.linalg import Vectors
from slaq.spark.jar import launch_conf

builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
builder = builder.config("spark.ui.showConsoleProgress", "true").config("spark.slaq.enabled", "false")
builder = builder.config("spark.ui.consoleProgress.update.interval", "50")
for key, value in launch_conf().items():
    if key != "spark.plugins":
        builder = builder.config(key, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
rows = [(float(k % 3 == 0), Vectors.dense(k % 7, (k * k) % 5)) for k in range(200)]
data = spark.createDataFrame(rows, ["label", "features"]).repartition(2).cache()
data.count()
with slaq.attach(spark, epoch_s=0.2, lease_s=2.0):
    with slaq.job("own loop", max_iterations=8):
        for k in range(8):
            spark.range(0, 40, 1, 8).rdd.foreach(lambda _: time.sleep(0.03))
            slaq.report(1.0 / (k + 1))
            print("printed", k, flush=True)
    LogisticRegression(maxIter=3).fit(data)
print("the end", flush=True)
spark.stop()
"""


@pytest.mark.spark
@pytest.mark.slow
def test_beside_sparks_own_progress_bar(tmp_path):
    """A real driver on a pseudo-terminal with both displays on."""
    terminal = Terminal(24, 110)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    root = str(Path(slaq.__file__).parents[1])
    environment = {**os.environ, **short_lived.JVM, "PYTHONPATH": root, "TERM": "xterm-256color"}
    end = terminal.descriptor
    process = subprocess.Popen([sys.executable, str(program)], env=environment, stdin=end, stdout=end, stderr=end)
    try:

        def both(lines):
            stage = [place for place, line in enumerate(lines) if "[Stage" in line]
            ours = [place for place, line in enumerate(lines) if line.startswith("own loop")]
            return stage and ours and stage[-1] < ours[0]

        terminal.until(both, 120.0)
        terminal.until(lambda lines: "the end" in lines, 120.0)
        assert process.wait(60) == 0
    finally:
        process.kill()
    lines = [line for line in (*terminal.scrolled(), *terminal.lines()) if line]
    assert [line.split("]")[-1].strip() for line in lines if "printed" in line] == [f"printed {k}" for k in range(8)]
    assert not any("SLAQ" in line or line.startswith("own loop") for line in lines), lines
    terminal.close()


def test_seconds_to_95_are_the_iterations_left_at_the_median_pace():
    shown = progress(Standing(reached=0.8, to_90=2.0, to_95=5.0, to_end=40.0), [1.0, 2.0, 30.0])
    assert shown == {"reached": 0.8, "iterations_to_90": 2.0, "iterations_to_95": 5.0, "seconds_to_95": 10.0}


def test_without_a_pace_the_seconds_are_not_known():
    assert progress(Standing(0.8, 2.0, 5.0, 40.0), [])["seconds_to_95"] is None
    assert progress(None, [1.0]) == {}

"""The progress line: on a terminal only, on one line, and gone at the end."""

import io

from slaq.driver.progress import Progress, line
from slaq.driver.status import JobStatus, progress
from slaq.records import Standing

RUNNING = JobStatus(
    "fit-1", "KMeans_a1", "KMeans", iteration=12, loss=0.69314, delta=0.0012, cores=1.5, seconds_to_95=8.2
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_line_holds_what_a_user_wants_to_know():
    assert line(RUNNING, 3) == (
        "SLAQ KMeans_a1 · iteration 12 · loss 0.69314 · Δ 0.0012 · 1.5 cores · 95 % in 8 s · 3 more"
    )


def test_what_is_not_known_is_left_out():
    assert line(JobStatus("a", "a", "custom", iteration=0, loss=1.0), 0) == "SLAQ a · iteration 0 · loss 1 · all cores"


def test_a_name_cannot_drive_the_terminal():
    shown = line(JobStatus("a", "a\x1b[2J\r\nb", "custom", iteration=0, loss=1.0), 0)
    assert shown.isprintable()


def test_it_is_rewritten_in_place_and_taken_away():
    terminal = Terminal()
    progress = Progress(terminal)
    assert progress.due()
    progress.show([RUNNING])
    assert not progress.due()
    progress.show([])
    written = terminal.getvalue()
    assert "\n" not in written
    assert written.count("\rSLAQ KMeans_a1") == 1
    assert written.endswith(" \r")


def test_it_is_never_due_where_nobody_looks():
    assert not Progress(io.StringIO()).due()


def test_it_shows_the_job_that_moved_last():
    terminal = Terminal()
    progress = Progress(terminal)
    other = JobStatus("fit-2", "GBT_b2", "GBT", iteration=1, loss=0.5)
    progress.show([RUNNING, other])
    progress.show([JobStatus("fit-1", "KMeans_a1", "KMeans", iteration=13, loss=0.69), other])
    assert terminal.getvalue().rpartition("\r")[2].startswith("SLAQ KMeans_a1 · iteration 13")


def test_seconds_to_95_are_the_iterations_left_at_the_median_pace():
    shown = progress(Standing(reached=0.8, to_90=2.0, to_95=5.0, to_end=40.0), [1.0, 2.0, 30.0])
    assert shown == {"reached": 0.8, "iterations_to_90": 2.0, "iterations_to_95": 5.0, "seconds_to_95": 10.0}


def test_without_a_pace_the_seconds_are_not_known():
    assert progress(Standing(0.8, 2.0, 5.0, 40.0), [])["seconds_to_95"] is None
    assert progress(None, [1.0]) == {}

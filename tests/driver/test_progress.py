"""The progress line: on a terminal only, on one line, and gone at the end."""

import io

from slaq.driver.progress import Progress, line
from slaq.driver.status import JobStatus
from slaq.driver.target import seconds_to_95

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


class TestSecondsTo95:
    def test_falls_as_the_curve_does_and_ends_at_nought(self):
        losses = [0.7**k for k in range(60)]
        left = [seconds_to_95(losses[:n], [2.0] * 8) for n in range(3, 60)]
        assert left[0] > 2.0
        assert left[-1] == 0.0
        assert all(value is None or value >= 0.0 for value in left)

    def test_is_not_known_from_two_losses(self):
        assert seconds_to_95([1.0, 0.5], [1.0]) is None

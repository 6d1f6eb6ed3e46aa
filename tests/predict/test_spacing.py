"""Histories with gaps, made even."""

from struct import unpack

from slaq.model import History, Report
from slaq.predict.spacing import evenly_spaced


def history_at(*points: tuple[int, float]) -> History:
    history = History()
    for iteration, loss in points:
        history = history.add(Report(loss, iteration))
    return history


def unpacked(losses: bytes) -> list[float]:
    return list(unpack(f"={len(losses) // 8}d", losses))


def test_a_complete_history_stays_as_it_is():
    losses, step = evenly_spaced(history_at((3, 5.0), (4, 4.0), (5, 3.5)))
    assert unpacked(losses) == [5.0, 4.0, 3.5]
    assert step == 1


def test_missing_iterations_are_filled_in_on_a_line():
    losses, step = evenly_spaced(history_at((0, 5.0), (1, 4.0), (4, 1.0)))
    assert unpacked(losses) == [5.0, 4.0, 3.0, 2.0, 1.0]
    assert step == 1


def test_a_job_that_reports_every_tenth_iteration_is_followed_in_tens():
    losses, step = evenly_spaced(history_at((10, 5.0), (20, 4.0), (30, 3.0), (50, 1.0)))
    assert unpacked(losses) == [5.0, 4.0, 3.0, 2.0, 1.0]
    assert step == 10


def test_a_huge_jump_is_a_renumbering():
    losses, _ = evenly_spaced(history_at((0, 5.0), (1, 4.0), (10**9, 3.0)))
    assert unpacked(losses) == [5.0, 4.0, 3.0]

"""Histories: every way a report can come in."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaq.model import History, Report
from slaq.model.history import COSTS_KEPT, LOSSES_KEPT
from tests.strategies import histories, reports


def history_of(*losses: float) -> History:
    history = History()
    for loss in losses:
        history = history.add(Report(loss))
    return history


def test_losses_are_kept_in_order_and_numbered_from_zero():
    history = history_of(5.0, 3.0, 2.5)
    assert history.losses == (5.0, 3.0, 2.5)
    assert history.iterations == (0, 1, 2)
    assert history.first_loss == 5.0
    assert history.largest_delta == 2.0


def test_an_iteration_reported_again_replaces_its_value():
    history = history_of(5.0, 3.0).add(Report(2.0, iteration=1))
    assert history.losses == (5.0, 2.0)
    assert history.largest_delta == 3.0


def test_the_first_loss_can_be_corrected_too():
    assert history_of(5.0).add(Report(4.0, iteration=0)).first_loss == 4.0


def test_an_iteration_older_than_the_latest_is_ignored_and_counted():
    history = history_of(5.0, 3.0, 2.0).add(Report(9.0, iteration=0))
    assert history.losses == (5.0, 3.0, 2.0)
    assert history.ignored == 1


def test_costs_of_missing_iterations_are_spread():
    history = history_of(5.0).add(Report(3.0, iteration=4, work_core_s=8.0, serial_s=4.0))
    assert history.costs[-2:] == (2.0, 1.0)
    assert len(history.costs) == 2 * COSTS_KEPT


@pytest.mark.parametrize("bad", [None, math.nan, math.inf, -math.inf, 1e308])
def test_a_loss_that_is_not_finite_marks_the_job_diverged_until_the_next_finite_one(bad):
    history = history_of(5.0, 3.0).add(Report(bad))
    assert history.diverged
    assert history.losses == (5.0, 3.0)
    assert history.ignored == 1
    assert not history.add(Report(2.0)).diverged


def test_a_rising_loss_makes_no_largest_delta_and_no_movement():
    history = history_of(1.0, 2.0, 3.0)
    assert history.largest_delta == 0.0
    assert history.movement == 0.0


def test_movement_follows_the_recent_reductions():
    history = history_of(*(10.0 - k for k in range(30)))
    assert history.movement == pytest.approx(1.0, rel=1e-3)


def test_memory_is_bounded():
    history = History()
    for k in range(3 * LOSSES_KEPT):
        history = history.add(Report(1.0 / (k + 1)))
    assert len(history.losses) == len(history.iterations) == LOSSES_KEPT
    assert history.first_loss == 1.0
    assert history.largest_delta == 0.5


@given(history=histories(), report=reports)
def test_any_report_leaves_a_sound_history(history, report):
    after = history.add(report)
    assert all(map(math.isfinite, after.losses))
    assert list(after.iterations) == sorted(set(after.iterations))
    assert len(after.losses) == len(after.iterations)
    assert math.isfinite(after.largest_delta)
    assert after.largest_delta >= 0
    assert len(after.costs) == 2 * COSTS_KEPT


@given(st.lists(reports, max_size=8))
def test_reporting_everything_twice_changes_nothing_but_the_count(batch):
    once = History()
    for number, report in enumerate(batch):
        once = once.add(Report(report.loss, iteration=number))
    twice = once
    for number, report in enumerate(batch):
        twice = twice.add(Report(report.loss, iteration=number))
    assert twice.losses == once.losses
    assert twice.iterations == once.iterations
    assert twice.largest_delta == once.largest_delta

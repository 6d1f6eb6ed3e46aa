"""The forecaster: what it answers in every situation a job may be in."""

import warnings

import numpy as np
import pytest

from slaq.data import recorded_curves
from slaq.errors import SlaqError
from slaq.predict import forecast

GRID = [0, 1, 2, 4, 8, 16, 64, 256, 4096]


def one(history, ahead=GRID):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return forecast([history], ahead)[0]


def test_the_answer_has_a_row_per_job_and_a_column_per_horizon():
    assert forecast([[3.0, 2.0], [1.0], []], [0, 5]).shape == (3, 2)
    assert forecast([], [0, 5]).shape == (0, 2)
    assert forecast([[3.0, 2.0]], []).shape == (1, 0)


def test_without_a_usable_loss_there_is_no_forecast():
    assert np.isnan(one([])).all()
    assert np.isnan(one([np.nan, np.inf])).all()


def test_a_single_loss_is_expected_to_stay():
    assert (one([7.0]) == 7.0).all()


def test_a_plateau_is_expected_to_stay():
    np.testing.assert_allclose(one([5.0] * 20), 5.0)
    np.testing.assert_allclose(one([9.0, 5.0, *[5.0] * 40]), 5.0)


@pytest.mark.parametrize("points", [2, 3, 4])
def test_few_falling_losses_are_continued_downwards_but_no_faster_than_they_fell(points):
    history = [1.0, 0.6, 0.4, 0.3][:points]
    predicted = one(history, [1, 10])
    fastest = max(np.array(history[:-1]) - history[1:])
    assert history[-1] - fastest <= predicted[0] < history[-1] + 0.1 * fastest
    assert history[-1] - 10 * fastest <= predicted[1] < predicted[0]


def test_a_drop_after_a_plateau_is_not_taken_for_noise():
    now, next_one, later = one([5.0] * 30 + [4.5, 4.0, 3.5], [0, 1, 10])
    assert abs(now - 3.5) < 0.05
    assert next_one < 3.4
    assert later < 3.0


def test_noise_around_a_level_is_smoothed():
    noise = np.random.default_rng(3).normal(scale=0.1, size=(200, 60))
    now, later = forecast(1.0 + noise, [0, 10]).T
    assert np.abs(now - 1.0).mean() < 0.6 * np.abs(noise[:, -1]).mean()
    assert np.abs(later - 1.0).mean() < 0.08


def test_a_rising_loss_is_not_expected_to_rise_or_fall_far():
    history = np.linspace(1.0, 2.0, 20)
    predicted = one(history)
    assert (predicted <= 2.0).all()
    assert (predicted >= 1.0).all()


def test_a_loss_that_jumped_up_is_expected_back():
    assert one([1.0, 0.5, 0.4, 0.35, 0.33, 4.0], [10])[0] < 2.5


@pytest.mark.parametrize(
    ("name", "curve"), [("power", 1.0 / np.arange(1.0, 61.0)), ("geometric", 0.9 ** np.arange(60.0))]
)
def test_the_papers_two_families_are_continued_within_three_percent(name, curve):
    for known in (10, 20, 40):
        assert abs(one(curve[:known], [10])[0] - curve[known + 9]) < 0.03, name


def test_losses_that_are_no_numbers_change_nothing():
    clean = one([5.0, 4.0, 3.0, 2.5])
    assert (one([5.0, np.nan, 4.0, 3.0, np.inf, -np.inf, 1e308, 2.5]) == clean).all()


def test_losses_at_the_limits_of_floating_point_give_finite_forecasts():
    for scale in (1e-320, 1e-300, 1e-150, 1e150, 9e299):
        predicted = one([scale, scale / 2, scale / 3, scale / 4, -scale])
        assert np.isfinite(predicted).all()
    assert np.isfinite(one([2.9e4, 2.3e4, 2.7e6, 1.7e17, 2.3e49, 3.3e145])).all()
    assert np.isfinite(one([1.0, 1.0 - 1e-16, 1.0 - 2e-16, 1.0 - 3e-16])).all()


@pytest.mark.parametrize("ahead", [-1, 1.5, np.nan, np.inf, "3", None, 2 + 0j])
def test_a_horizon_that_is_no_whole_number_is_refused(ahead):
    with pytest.raises(SlaqError, match=r"iterations ahead; give whole numbers of at least 0"):
        forecast([[2.0, 1.0]], [1, ahead])


def test_any_type_of_whole_number_is_a_horizon():
    history = [[3.0, 2.0, 1.5]]
    expected = forecast(history, [0, 7])
    assert (forecast(history, np.array([0, 7])) == expected).all()
    assert (forecast(history, (0.0, 7.0)) == expected).all()
    assert np.isfinite(forecast(history, [10**18])).all()


def test_only_the_recent_past_counts():
    recent = 1.0 / np.arange(200.0, 260.0)
    quiet, wild = [np.concatenate([past, recent]) for past in (np.ones(200), np.arange(200.0))]
    assert (one(quiet) == one(wild)).all()


def test_recorded_smooth_runs_are_forecast_ten_iterations_ahead_within_one_and_a_half_percent():
    runs = [run["losses"] for run in recorded_curves() if run["kind"] == "smooth" and len(run["losses"]) > 15]
    errors = []
    for losses in runs:
        known = range(5, len(losses) - 9)
        predicted = forecast([losses[:k] for k in known], [10])[:, 0]
        truth = np.array([losses[k + 9] for k in known])
        errors.append(np.mean(np.abs(predicted - truth)) / abs(losses[0] - losses[-1]))
    assert np.mean(errors) < 0.015

"""What holds for every forecast, whatever a job reports."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaq.predict import forecast
from slaq.predict.series import pack
from slaq.predict.weighted_fit import fit_series

GRID = [0, 1, 2, 3, 5, 10, 20, 50, 100, 1000, 4096]

any_loss = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.floats(min_value=-1e3, max_value=1e3),
    st.sampled_from([0.0, 1.0, 1.0 + 1e-12, 1e-300, 1e300, 1e308]),
)
any_history = st.lists(any_loss, max_size=80)
ordinary_history = st.lists(st.integers(min_value=-1000, max_value=1000).map(lambda i: i / 8), min_size=1, max_size=60)


def fitted(histories, ahead):
    return fit_series(pack(histories), ahead)


both = pytest.mark.parametrize("forecast", [forecast, fitted])


@both
@given(histories=st.lists(any_history, max_size=6))
@settings(max_examples=200, deadline=None)
def test_forecasts_are_finite_unless_there_is_no_loss_and_nothing_warns(forecast, histories):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predicted = forecast(histories, GRID)
    some = [any(abs(loss) <= 1e300 for loss in history[-64:]) for history in histories]
    assert (np.isfinite(predicted).all(axis=1) == np.array(some, dtype=bool)).all()


@both
@given(history=any_history)
@settings(max_examples=200, deadline=None)
def test_a_forecast_never_rises_and_falls_ever_more_slowly(forecast, history):
    predicted = forecast([history or [1.0]], GRID)[0]
    with np.errstate(all="ignore"):
        falls = -np.diff(predicted) / np.diff(GRID)
    usable = [x for x in history if abs(x) <= 1e300] or [1.0]
    rounding = 1e-9 * max(abs(x) for x in usable)
    if np.isfinite(predicted).all():
        assert (falls >= -rounding).all()
        # The paper's 1/(a k² + c) gathers speed before it slows down.
        assert forecast is fitted or (np.diff(falls) <= rounding).all()


@both
@given(history=any_history, others=st.lists(any_history, max_size=5), place=st.integers(min_value=0, max_value=5))
@settings(max_examples=200, deadline=None)
def test_the_forecast_of_a_job_does_not_depend_on_its_company_to_the_last_digit(forecast, history, others, place):
    crowd = [*others[:place], history, *others[place:]]
    np.testing.assert_array_equal(forecast(crowd, GRID)[min(place, len(others))], forecast([history], GRID)[0])


@given(any_history, st.sets(st.sampled_from(GRID), min_size=1))
@settings(max_examples=50, deadline=None)
def test_the_forecast_at_a_horizon_does_not_depend_on_the_other_horizons(history, chosen):
    columns = [GRID.index(ahead) for ahead in sorted(chosen)]
    np.testing.assert_array_equal(forecast([history], sorted(chosen)), forecast([history], GRID)[:, columns])


@given(
    ordinary_history,
    st.integers(min_value=-20, max_value=20).map(lambda e: 2.0**e),
    st.integers(min_value=-1000, max_value=1000),
)
@settings(max_examples=200, deadline=None)
def test_a_forecast_follows_the_scale_and_the_shift_of_the_losses(history, scale, shift):
    losses = np.array(history)
    moved = forecast([losses + shift], GRID)[0]
    np.testing.assert_allclose(moved, forecast([losses], GRID)[0] + shift, rtol=1e-9, atol=1e-6)
    scaled = forecast([losses * scale], GRID)[0]
    np.testing.assert_allclose(scaled / scale, forecast([losses], GRID)[0], rtol=1e-12)


def test_thousands_of_jobs_are_forecast_as_each_one_alone():
    rng = np.random.default_rng(5)
    histories = [np.sort(rng.random(rng.integers(0, 90)))[::-1] + rng.normal() for _ in range(1500)]
    together = forecast(histories, GRID)
    for job in (0, 1, 511, 1023, 1024, 1499):
        np.testing.assert_array_equal(together[job], forecast([histories[job]], GRID)[0])

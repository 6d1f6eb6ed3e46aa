"""What is kept of how a past fit converged, and what it says of a fit that may make fewer iterations."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaq.model import EXPECT_NOTHING, Expected
from slaq.model.past import SHARES, PastFit, milestones, reached
from tests.strategies import any_loss


def converged(curve, max_iterations=None) -> PastFit:
    return PastFit(
        "KMeans", iterations=len(curve) - 1.0, max_iterations=max_iterations, reached=reached(enumerate(curve))
    )


def test_a_share_is_reached_with_the_first_iteration_that_has_fallen_so_far():
    assert reached([(0, 10.0), (1, 6.0), (2, 4.0), (5, 1.0), (9, 0.0)]) == (2, 5, 5, 5, 5, 9, 9, 9, 9)


def test_a_loss_that_rises_or_is_nan_on_the_way_does_not_count():
    assert reached([(0, 10.0), (1, 0.0), (2, 5.0), (3, math.nan)]) == (1,) * len(SHARES)


@pytest.mark.parametrize("curve", [[], [1.0], [1.0, 2.0], [math.nan, math.nan], [math.inf, 1.0]])
def test_a_curve_that_never_falls_reaches_nothing(curve):
    assert reached(enumerate(curve)) == ()


@given(st.lists(any_loss, max_size=20))
def test_larger_shares_are_reached_later_and_within_the_run(losses):
    found = reached(enumerate(losses))
    assert list(found) == sorted(found)
    assert all(0 <= iteration < len(losses) for iteration in found)


def test_a_repeated_fit_reaches_its_milestones_where_the_past_one_did():
    curve = [0.8**k for k in range(41)]
    assert milestones(converged(curve, 40), 40) == (11.0, 14.0, 40.0)


def test_to_end_sooner_brings_90_percent_of_what_is_left_nearer():
    curve = [1.0 / (1 + k) ** 0.5 for k in range(101)]
    full, half = (milestones(converged(curve, 100), limit) for limit in (100, 30))
    assert half[0] < full[0]
    truth = min(k for k in range(31) if curve[0] - curve[k] >= 0.9 * (curve[0] - curve[30]))
    assert half[0] == pytest.approx(truth, abs=3)
    assert half[2] == 30


def test_a_fit_that_ended_by_itself_ends_there_again_and_one_that_had_to_end_goes_on():
    curve = [0.5**k for k in range(11)]
    assert milestones(converged(curve, 50), 100)[2] == 10
    assert milestones(converged(curve, 10), 100)[2] == 100


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=30), st.none() | st.integers(0, 60))
def test_milestones_are_in_order_and_within_the_limit(losses, limit):
    past = converged(losses, len(losses) - 1)
    if past.reached:
        found = milestones(past, limit)
        assert 0 <= found[0] <= found[1] <= found[2]
        assert limit is None or found[2] <= limit


def test_an_expectation_is_packed_without_loss():
    expected = Expected(1.5, 0.5, 0.25, 0.125, 0.75, 4.0, 6.0, 10.0, 1.0)
    assert expected.packed().expected == expected
    assert EXPECT_NOTHING.expected == Expected()

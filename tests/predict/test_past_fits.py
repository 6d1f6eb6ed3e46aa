"""What is expected of a new fit: kernel, shrinkage, bounds."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaq.model import EXPECT_NOTHING, Expected, PastFit
from slaq.predict.past_fits import MOST_FITS, PastFits, averaged, likeness
from slaq.records import Traits
from tests.strategies import past_fits, traits

SMALL, LARGE = (Traits({"k": 20.0}, partitions=4.0, bytes=size) for size in (1e6, 1e9))


def fit(work_core_s=1.0, of=SMALL, estimator="KMeans", **more) -> PastFit:
    return PastFit(estimator, of, ready_core_s=4.0 * work_core_s, work_core_s=work_core_s, **more)


def expected(fits, of=SMALL, estimator="KMeans", max_iterations=None) -> Expected:
    past = PastFits()
    past.add(fits)
    return past.expect(estimator, of, max_iterations).expected


def test_without_past_fits_nothing_is_expected():
    assert PastFits().expect("KMeans", SMALL, 10) is EXPECT_NOTHING


def test_a_fit_that_is_repeated_is_expected_to_repeat_itself():
    found = expected([fit(0.5, serial_s=0.1), fit(100.0, of=LARGE)])
    assert found.work_core_s == pytest.approx(0.5, rel=0.5)
    assert found.work_sure > 0.75
    assert found.serial_s < 0.1 + 1e-9


def test_more_fits_that_agree_are_surer_and_pull_harder():
    once, often = (expected([*[fit(0.5)] * count, fit(100.0, of=LARGE)]) for count in (1, 8))
    assert often.work_sure > once.work_sure
    assert abs(often.work_core_s - 0.5) < abs(once.work_core_s - 0.5)


def test_fits_that_disagree_are_less_sure():
    steady, erratic = expected([fit(1.0), fit(1.0)]), expected([fit(0.1), fit(10.0)])
    assert erratic.work_sure < steady.work_sure / 2
    assert erratic.work_core_s == pytest.approx(1.0)


def test_other_data_and_other_parameters_say_less():
    same, resized = likeness(SMALL, SMALL), likeness(SMALL, LARGE)
    reset = likeness(SMALL, Traits({"k": 40.0}, partitions=4.0, bytes=1e6))
    assert same == 1.0
    assert resized < 1e-6
    assert resized < reset < same


def test_before_the_size_of_its_data_is_known_a_fit_is_compared_by_its_parameters():
    assert likeness(Traits({"k": 20.0}), LARGE) == 1.0
    unsure = expected([fit(1.0), fit(100.0, of=LARGE)], of=Traits({"k": 20.0}))
    assert unsure.work_sure < expected([fit(1.0), fit(100.0, of=LARGE)]).work_sure


def test_an_estimator_that_was_never_seen_is_expected_to_be_like_the_others_but_hardly():
    found = expected([fit(1.0), fit(50.0, of=LARGE)], estimator="LDA")
    assert 1.0 <= found.work_core_s <= 50.0
    assert found.work_sure < 0.3
    assert found.length_sure == 0.0


def test_how_far_milestones_are_comes_from_fits_that_ran_to_their_end():
    whole = fit(iterations=20.0, max_iterations=20, reached=(2, 3, 3, 4, 5, 8, 12, 15, 19))
    found = expected([whole, fit(iterations=3.0)], max_iterations=20)
    assert (found.at_90, found.at_95, found.at_end) == pytest.approx((5.0, 8.0, 20.0))
    assert found.length_sure == pytest.approx(0.8)


def test_the_oldest_fits_of_the_most_frequent_estimator_are_forgotten():
    past = PastFits()
    past.add([fit(estimator="LDA"), *[fit()] * (MOST_FITS + 50)])
    assert len(past) == MOST_FITS
    assert past.expect("LDA", SMALL, None).expected.work_sure > 0.75


def test_a_new_fit_changes_what_is_expected():
    past = PastFits()
    past.add([fit(1.0)])
    before = past.expect("KMeans", SMALL, None)
    past.add([fit(9.0)] * 20)
    assert past.expect("KMeans", SMALL, None).expected.work_core_s > 5.0 > before.expected.work_core_s


@given(st.lists(past_fits, max_size=8), traits, st.none() | st.integers(0, 1000))
def test_whatever_the_past_expectations_are_finite_and_sure_to_at_most_1(fits, of, limit):
    found = expected(fits, of, max_iterations=limit)
    for name in Expected.__struct_fields__:
        value = getattr(found, name)
        assert math.isfinite(value)
        assert value >= 0.0
        assert value <= 1.0 or not name.endswith("_sure")
    assert found.at_90 <= found.at_95 * (1 + 1e-9) <= found.at_end * (1 + 1e-9) + 1e-6


@given(traits, traits)
def test_likeness_is_mutual_and_1_for_the_same(one, other):
    assert likeness(one, one) == 1.0
    assert likeness(one, other) == pytest.approx(likeness(other, one))
    assert 0.0 <= likeness(one, other) <= 1.0


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=6), st.floats(1e-3, 1e3))
def test_an_average_lies_between_what_it_is_made_of(values, otherwise):
    fits = [PastFit("KMeans", work_core_s=value) for value in values]
    mean, sure = averaged(fits, [1.0] * len(fits), lambda one: one.work_core_s, (math.log(otherwise), 0.5), 0.25)
    assert min(*values, otherwise) * (1 - 1e-9) <= math.exp(mean) <= max(*values, otherwise) * (1 + 1e-9)
    assert 0.5 <= sure <= 1.0

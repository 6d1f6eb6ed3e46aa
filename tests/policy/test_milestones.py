"""Milestones: the value of work that makes marginal value the best order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaq.policy.milestones import Milestones


def value_of(away, value, iterations):
    milestones = Milestones(
        [np.array([float(one)]) for one in away],
        [np.array([worth if one > 0.0 else 0.0]) for one, worth in zip(away, value, strict=True)],
    )
    return [float(milestones.value(np.array([0]), np.array([float(one)]))[0]) for one in iterations]


def test_work_towards_a_milestone_collects_its_value_evenly():
    assert value_of([10], [2.0], [0, 5, 10, 99]) == [0.0, 1.0, 2.0, 2.0]


def test_a_milestone_that_is_denser_with_the_one_behind_it_is_passed_through_on_the_way():
    assert value_of([10, 12], [1.0, 5.0], [6, 12]) == pytest.approx([3.0, 6.0])


def test_a_milestone_that_is_denser_alone_comes_first():
    assert value_of([2, 12], [1.0, 1.0], [1, 2, 7, 12]) == pytest.approx([0.5, 1.0, 1.5, 2.0])


def test_what_has_been_passed_is_worth_nothing_more():
    assert value_of([0, 0, 4], [1.0, 1.0, 0.1], [2, 4]) == pytest.approx([0.05, 0.1])
    assert value_of([0, 0], [1.0, 1.0], [2, 4]) == [0.0, 0.0]


@given(
    steps=st.lists(st.floats(0, 50), min_size=3, max_size=3),
    value=st.lists(st.floats(0.01, 5), min_size=3, max_size=3),
)
@settings(max_examples=200, deadline=None)
def test_the_value_is_concave_and_never_below_what_the_milestones_bring(steps, value):
    away = np.cumsum(steps)
    grid = np.linspace(0, away[-1] + 1, 60)
    found = np.array(value_of(away, value, grid))
    assert (np.diff(found) >= -1e-9).all()
    assert (np.diff(found, 2) <= 1e-6).all()
    collected = [sum(v for v, a in zip(value, away, strict=True) if 0 < a <= x) for x in grid]
    assert (found >= np.array(collected) - 1e-6).all()

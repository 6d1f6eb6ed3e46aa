"""Water filling: the one level at which the bounded shares add up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaq.policy.water import water_fill

sides = st.lists(st.tuples(st.floats(1e-6, 1e6), st.floats(0, 50), st.floats(0, 50)), min_size=1, max_size=20)


@given(members=sides, capacity=st.floats(0, 500))
def test_shares_add_up_and_lie_between_their_bounds(members, capacity):
    weight, low, room = (np.array(column) for column in zip(*members, strict=True))
    shares = water_fill(capacity, weight, low, low + room)
    assert (shares >= low).all()
    assert (shares <= low + room).all()
    assert shares.sum() == pytest.approx(np.clip(capacity, low.sum(), (low + room).sum()), rel=1e-9, abs=1e-9)


def test_weights_many_decades_apart_do_not_lose_a_core():
    rng = np.random.default_rng(0)
    for _ in range(2000):
        count = int(rng.integers(2, 60))
        weight, high = 10.0 ** rng.uniform(-6, 6, count), rng.uniform(1.0, 50.0, count)
        capacity = rng.uniform(0.0, high.sum())
        assert water_fill(capacity, weight, np.zeros(count), high).sum() == pytest.approx(capacity, rel=1e-9)


@given(members=sides, capacity=st.floats(0, 500))
def test_nobody_can_get_more_but_from_someone_with_a_smaller_share_for_its_weight(members, capacity):
    weight, low, room = (np.array(column) for column in zip(*members, strict=True))
    shares = water_fill(capacity, weight, low, low + room)
    can_rise = shares < low + room - 1e-9
    can_fall = shares > low + 1e-9
    if can_rise.any() and can_fall.any():
        assert (shares / weight)[can_rise].min() >= (shares / weight)[can_fall].max() * (1 - 1e-6)

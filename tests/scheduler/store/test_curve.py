"""Curves of bounded size that span the whole run."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from slaq.scheduler.store.curve import Curve, Points


def grown(count: int, most: int = 16, past: Points | None = None) -> Curve:
    curve = Curve(most, past or Points(2))
    for number in range(curve.seen, curve.seen + count):
        curve.add(float(number), number / 2)
    return curve


@given(st.integers(0, 500), st.integers(4, 32))
def test_a_curve_keeps_its_size_its_first_and_its_latest_point(count, most):
    points = list(grown(count, most).points())
    assert len(points) <= most
    assert points[:1] == [(0.0, 0.0)][:count]
    assert points[-1:] == [(count - 1.0, (count - 1) / 2)][:count]
    assert points == sorted(set(points))


@given(st.integers(16, 500))
def test_what_is_left_is_spread_evenly(count):
    instants = [at for at, _ in grown(count).points()]
    gaps = {after - before for before, after in pairwise(instants[:-1])}
    assert len(gaps) == 1


@given(st.integers(0, 100), st.integers(0, 100))
def test_a_curve_that_was_put_away_goes_on(before, after):
    halfway = grown(before).points()
    assert list(grown(after, past=halfway).points()) == list(grown(before + after).points())


def test_a_curve_takes_all_its_memory_at_the_start():
    curve = grown(1)
    size = len(curve._buffer)
    for number in range(1000):
        curve.add(float(number), 0.0)
    assert len(curve._buffer) == size

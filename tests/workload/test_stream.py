"""Streams are decided by their seed alone."""

import pytest

from slaq.errors import SlaqError
from slaq.workload.algorithms import ALGORITHMS
from slaq.workload.stream import poisson


def test_the_same_seed_gives_the_same_stream() -> None:
    assert poisson(20, 3.0, seed=7) == poisson(20, 3.0, seed=7)
    assert poisson(20, 3.0, seed=7) != poisson(20, 3.0, seed=8)


def test_all_nine_algorithms_come_before_any_comes_again() -> None:
    stream = poisson(18, 1.0, seed=1)
    assert {job.algorithm for job in stream[:9]} == {job.algorithm for job in stream[9:]} == set(ALGORITHMS)
    assert len({job.name for job in stream}) == 18


def test_arrivals_begin_at_once_and_keep_the_mean_gap() -> None:
    arrivals = [job.arrival_s for job in poisson(2000, 2.0, seed=3)]
    assert arrivals[0] == 0.0
    assert arrivals == sorted(arrivals)
    assert arrivals[-1] / 1999 == pytest.approx(2.0, rel=0.1)


def test_length_stretches_the_iterations() -> None:
    short, long = poisson(9, 1.0, 1, length=0.5), poisson(9, 1.0, 1, length=2.0)
    for one, other in zip(short, long, strict=True):
        assert other.iterations == pytest.approx(4 * one.iterations, abs=4)


@pytest.mark.parametrize(("count", "gap_s", "length"), [(0, 1.0, 1.0), (3, -1.0, 1.0), (3, 1.0, 0.0)])
def test_a_stream_that_makes_no_sense_is_refused_with_its_numbers(count: int, gap_s: float, length: float) -> None:
    with pytest.raises(SlaqError, match=f"{count} jobs, {gap_s} s apart, {length} times"):
        poisson(count, gap_s, 1, length)

"""The arithmetic of the share benchmark; the measurement itself needs a quiet machine and is run by hand."""

import pytest

from slaq.bench import share


def test_the_asked_shares_are_whole() -> None:
    for asked in (share.TWO, share.EIGHT):
        assert sum(asked.values()) == pytest.approx(1.0)


def test_shares_are_parts_of_what_all_received() -> None:
    assert share.shares([3.0, 1.0]) == [0.75, 0.25]


def test_the_worst_job_decides_and_the_baseline_does_not_count() -> None:
    good = share.row("local", {"a": 0.75, "b": 0.25}, {"a": (7.4, 8.0), "b": (2.6, 2.0)})
    bad = share.row("local", {"a": 0.75, "b": 0.25}, {"a": (7.0, 7.5), "b": (3.0, 2.5)})
    baseline = share.row("local", {"weights only": 0.75}, {"a": (5.0, 5.0), "b": (5.0, 5.0)})
    assert good["worst points"] == pytest.approx(1.0)
    assert share.passed([good, baseline])
    assert not share.passed([good, bad])


def test_weights_for_spark_s_own_fair_scheduler() -> None:
    assert '<pool name="a"><weight>75</weight></pool>' in share.weighted_pools({"a": 0.75})

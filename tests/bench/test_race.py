"""The arithmetic of `slaq bench race`; the searches themselves are run by hand."""

import pytest

from slaq.bench.race import FULL, SHARES, Outcome, summary


def test_every_way_is_compared_with_the_full_search_of_the_same_seed():
    def outcome(way, seed, core_s, loss):
        return Outcome(way, seed, core_s, 1.0, loss, 0.5, "regParam=0" if loss < 3 else "regParam=1")

    found = [outcome(FULL, 0, 10.0, 1.0), outcome(FULL, 1, 20.0, 2.0)]
    for way in SHARES:
        found += [outcome(way, 0, 4.0, 1.1), outcome(way, 1, 6.0, 3.0)]
    full, racing, *_ = summary(found)
    assert (full["of full"], full["near"], full["same choice"]) == (1.0, "2/2", "2/2")
    assert racing["of full"] == pytest.approx(0.35)
    assert racing["worse by"] == pytest.approx(1.1)
    assert racing["worst"] == pytest.approx(2.0)
    assert (racing["near"], racing["same choice"]) == ("1/2", "1/2")

"""The arithmetic of `slaq bench search`; the searches themselves are run by hand."""

import pytest

from slaq.bench.search import Search, summary


def test_searches_are_compared_with_the_plain_one_of_the_same_round():
    def found(way, number, elapsed_s, metrics=(0.5, 0.4)):
        return Search(way, number, elapsed_s, list(metrics), "regParam=0")

    searches = [found("slaq", 0, 11.0), found("plain", 0, 10.0), found("plain", 1, 20.0)]
    plain, slaq = summary([*searches, found("slaq", 1, 18.0, (0.5, 0.41))])
    assert (plain["of plain"], plain["best"]) == (1.0, "regParam=0; metrics identical")
    assert [slaq[column] for column in ("s", "of plain", "least", "most")] == pytest.approx([14.5, 1.0, 0.9, 1.1])
    assert slaq["best"] == "regParam=0; metrics within 1.0e-02"

"""The arithmetic of `slaq bench search`; the searches themselves are run by hand."""

import pytest

from slaq.bench.search import Found, reached_s, summary
from slaq.workload.watch import Seen


def found(way, number, elapsed_s, part="logistic", metrics=(0.5, 0.4), **more):
    return Found(part, way, number, elapsed_s, list(metrics), "regParam=0", **more)


def test_ways_are_compared_round_by_round_and_results_with_the_first():
    searches = [found("plain", 0, 10.0), found("plain", 1, 20.0), found("slaq", 0, 11.0), found("slaq", 1, 18.0)]
    plain, slaq = summary(searches, ("plain", "slaq"))
    assert (plain["of plain"], plain["found"]) == (1.0, "regParam=0; metrics identical")
    assert [slaq[column] for column in ("s", "of plain", "least", "most")] == pytest.approx([14.5, 1.0, 0.9, 1.1])
    (line,) = summary([found("plain", 0, 1.0), found("plain", 1, 1.0, metrics=(0.5, 0.41))], ("plain",))
    assert line["found"] == "regParam=0; metrics within 1.0e-02"


def test_searches_that_run_one_after_the_other_are_added_up():
    searches = [found(way, 0, seconds, part) for way in ("plain", "slaq") for part, seconds in (("a", 2.0), ("b", 3.0))]
    assert [(line["search"], line["s"]) for line in summary(searches, ("plain", "slaq"))] == [
        ("a", 2.0), ("a", 2.0), ("b", 3.0), ("b", 3.0), ("all", 5.0), ("all", 5.0),
    ]  # fmt: skip


def test_the_fit_of_somebody_else_is_timed_from_its_begin_to_90_percent():
    fit = Seen({"beginMillis": 5000}, 2.0)
    fit.curve = [(3.5, 10.0), (4.0, 2.0), (4.5, 1.0), (5.0, 0.0)]
    assert fit.began_s == 3.0
    assert reached_s(fit) == 1.5
    (line,) = summary([found("fair", 0, 1.0, reached_s=1.5)], ("fair",))
    assert line["other's 90 % s"] == 1.5

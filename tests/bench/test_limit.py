"""Where time was lost against the limit, on a recorded stream."""

import math

import pytest
from msgspec.structs import replace

from slaq.bench._first import first_job
from slaq.bench._limit import limit, sentences
from slaq.bench._ratio import ratio_of_sums
from slaq.model import DEFAULTS
from slaq.sim.decisions import Pace
from slaq.workload.replay import saved_runs
from slaq.workload.results import Sample, Stage, StreamRun
from tests.workload.test_measures import job, run
from tests.workload.test_replay import RECORDED

RUNS = {each.policy: each for each in saved_runs(RECORDED)}


@pytest.mark.parametrize(("policy", "own"), [("slaq", "finish-line"), ("spark-fair", None)])
def test_the_factors_lead_from_the_limit_to_what_was_measured(policy: str, own: str | None) -> None:
    found = limit([RUNS[policy]], [RUNS["spark-fair"]], own, Pace(), DEFAULTS, True)
    assert found is not None
    for name in ("t90_s", "t95_s", "end_s"):
        assert math.prod(link.factor[name].value for link in found.chain) == pytest.approx(found.regret[name].value)
        assert found.chain[-1].seconds[name] == pytest.approx(found.ideal[name] * found.regret[name].value)
    assert "the clairvoyant on ideal cores" in sentences(policy, found)[0]


def test_without_recorded_stages_there_is_no_limit() -> None:
    bare = replace(RUNS["slaq"], stages=())
    assert limit([bare], [bare], "finish-line", Pace(), DEFAULTS, True) is None


def test_long_rounds_count_for_more() -> None:
    assert ratio_of_sums([(1.0, 2.0)]).value == 0.5
    assert ratio_of_sums([(1.0, 2.0)]).low is None
    both = ratio_of_sums([(1.0, 2.0), (30.0, 30.0)])
    assert both.value == pytest.approx(31.0 / 32.0)
    assert both.low is not None
    assert both.high is not None
    assert 0.5 <= both.low <= both.value <= both.high <= 1.0
    assert both == ratio_of_sums([(1.0, 2.0), (30.0, 30.0)])


def test_the_first_job_runs_pauses_or_waits() -> None:
    stages = (Stage("a", 0.0, (1.0,), (3.0,)), Stage("a", 4.0, (4.0,), (5.0,)))
    samples = tuple(Sample(at_s, "a", 2.0, 0.0, 0.0, 0) for at_s in (0.0, 2.0, 5.0))
    ours = replace(run(job("a", arrived_s=0.0), samples=samples), stages=stages)
    found = first_job([ours])
    assert found is not None
    assert (found.runs, found.pauses, found.waits) == pytest.approx((0.6, 0.2, 0.2))
    assert str(found) == "runs 60%, pauses 20%, waits 20%"


def test_under_sparks_fair_the_first_pool_is_first_by_name() -> None:
    stages = (Stage("a", 0.0, (0.0,), (9.0,)), Stage("b", 0.0, (8.0,), (9.0,)))
    jobs = (replace(job("a", 0.0), pool="z", ended_s=9.0), replace(job("b", 0.0), pool="y", ended_s=9.0))
    theirs = StreamRun("spark-fair", 0, 2, jobs, 9.0, 10.0, None, 0.0, stages=stages)
    found = first_job([theirs])
    assert found is not None
    assert found.waits == pytest.approx(8.0 / 9.0)
    assert first_job([replace(theirs, policy="spark-fifo")]) is None

"""Oracles and baselines: what they know is true."""

import numpy as np
import pytest

from slaq import policy
from slaq.errors import SlaqError
from slaq.model import DEFAULTS, Job
from slaq.sim import predictors
from slaq.sim.cluster import Cluster
from slaq.sim.contenders import Contender, contender, contender_names
from slaq.sim.curves import Curve
from slaq.sim.oracle import LiteralOracle, Oracle
from slaq.sim.workload import Setting, draw

CURVES = [
    Curve("steep", tuple(2.0**-k for k in range(11))),
    Curve("plateau", (1.0, 0.9, 0.9, 0.9, 0.9, 0.9, 0.1, 0.05, 0.02, 0.01, 0.0)),
]


@pytest.fixture
def cluster():
    setting = Setting(jobs=2, cores=10, gap_s=0.0, work_core_s=10.0, work_spread=0.0, iterations=10)
    return Cluster(draw(setting, CURVES, 0))


def jobs_of(cluster: Cluster) -> list[Job]:
    return [Job(name) for name in cluster.workload.names]


def test_the_oracle_s_reduction_is_what_comes_true(cluster):
    steep = cluster.workload.algorithm.index("steep")
    outlook = Oracle(cluster)(jobs_of(cluster), 3.0, DEFAULTS)
    promised = outlook.reduction(np.array([steep]), np.array([10.0]))[0] * outlook.unit[steep]
    before = outlook.loss(np.array([steep]), np.array([0.0]))[0]
    cluster.advance(np.arange(2), np.array([10.0, 10.0]), 0.0, 3.0)
    after = Oracle(cluster)(jobs_of(cluster), 3.0, DEFAULTS).loss(np.array([steep]), np.array([0.0]))[0]
    assert cluster.done[steep] == 3
    assert promised == pytest.approx(before - after)


def test_a_plateau_is_worth_crossing_for_what_lies_behind_it(cluster):
    plateau = cluster.workload.algorithm.index("plateau")
    cluster.advance(np.arange(2), np.array([4.0, 4.0]), 0.0, 3.0)
    outlook = Oracle(cluster)(jobs_of(cluster), 3.0, DEFAULTS)
    assert outlook.reduction(np.array([plateau]), np.array([4.0]))[0] > 0.05
    literal = LiteralOracle(cluster)(jobs_of(cluster), 3.0, DEFAULTS)
    assert literal.reduction(np.array([plateau]), np.array([4.0]))[0] == 0.0


def test_the_oracle_knows_how_far_away_a_share_of_the_reduction_and_the_end_are(cluster):
    steep = cluster.workload.algorithm.index("steep")
    cluster.advance(np.arange(2), np.array([5.0, 5.0]), 0.0, 3.0)
    outlook = Oracle(cluster)(jobs_of(cluster), 3.0, DEFAULTS)
    assert outlook.until(0.9)[steep] == pytest.approx(4 - 1.5)
    assert outlook.until(1.0).tolist() == [8.5, 8.5]
    assert outlook.until(0.1)[steep] == 0.0
    assert outlook.ahead(np.array([steep]), np.array([10.0])) == pytest.approx([3.0])


def test_a_job_has_reached_a_share_when_it_is_no_iteration_away_from_it(cluster):
    shares = np.linspace(0.0, 0.99, 34)
    for _ in range(13):
        outlook = Oracle(cluster)(jobs_of(cluster), 3.0, DEFAULTS)
        for share in shares:
            np.testing.assert_array_equal(outlook.until(share) == 0.0, outlook.reached() >= share - 1e-12)
        cluster.advance(np.arange(2), np.array([3.0, 7.0]), 0.0, 3.0)
    assert outlook.reached() == pytest.approx([1.0, 1.0])


def test_a_job_that_trains_nothing_has_reached_nothing():
    setting = Setting(jobs=2, cores=10, gap_s=0.0, iterations=10, others=1.0)
    there = Cluster(draw(setting, CURVES, 0))
    assert Oracle(there)(jobs_of(there), 3.0, DEFAULTS).reached().tolist() == [0.0, 0.0]


@pytest.mark.parametrize("make", [predictors.zero, predictors.noise])
def test_wrong_predictors_answer_for_every_job(cluster, make):
    outlook = make(cluster, 5)(jobs_of(cluster), 3.0, DEFAULTS)
    assert np.isfinite(outlook.reduction(np.arange(2), np.ones(2))).all()


def test_every_policy_runs_with_foresight():
    for name in policy.names():
        assert contender(f"oracle-{name}").policy == name
        assert {name, f"oracle-{name}"} <= set(contender_names())


def test_an_unknown_contender_is_refused_with_the_names():
    for name in ("oracle-best", "best:weighted-fit", "oracle-fair:weighted-fit"):
        with pytest.raises(SlaqError, match=rf"unknown policy '{name}'.*least-attained"):
            contender(name)
    for name in ("fair:best", "fair:"):
        with pytest.raises(SlaqError, match=r"unknown predictor '(best)?'; choose one of learned, weighted-fit"):
            contender(name)


def test_a_policy_may_name_its_predictor():
    assert contender("max-total:weighted-fit", "zero") == Contender(
        "max-total:weighted-fit", "max-total", "weighted-fit"
    )
    assert contender("max-total", "weighted-fit").predictor == "weighted-fit"

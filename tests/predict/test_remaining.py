"""The distribution of remaining iterations: what always holds, and what it has learned."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaq.data import recorded_curves
from slaq.model import History, Job, Report
from slaq.predict import look_ahead
from slaq.predict.learned_remaining import MEAN, SPREAD, WEIGHTS
from slaq.predict.remaining import GRID, HIGH, LOW, MIDDLE, MILESTONES, Remaining, chance, remaining
from slaq.predict.signs import FAMILIES
from tests.strategies import histories


def away(*jobs: Job) -> Remaining:
    return look_ahead(jobs, 1.0).remaining


def job_of(losses, **declared) -> Job:
    history = History()
    for loss in losses:
        history = history.add(Report(float(loss)))
    return Job("job", history=history, **declared)


any_job = st.builds(
    Job,
    id=st.just("job"),
    history=histories(),
    ml=st.booleans(),
    estimator=st.sampled_from(["", "custom", *FAMILIES]),
    max_iterations=st.none() | st.integers(0, 2000),
)


@given(st.lists(any_job, min_size=1, max_size=6))
@settings(max_examples=100, deadline=None)
def test_quantiles_are_in_order_and_between_now_and_the_end(jobs):
    found = away(*jobs)
    assert np.isfinite([found.low, found.middle, found.high]).all()
    assert (found.low >= 0.0).all()
    assert (np.diff(found.middle, axis=0) >= 0.0).all()
    assert (found.low <= found.middle + 1e-9).all()
    assert (found.middle <= found.high + 1e-9).all()
    assert ((found.past >= 0.0) & (found.past <= 1.0)).all()
    told = np.array([np.inf if job.max_iterations is None else max(job.max_iterations, 1) for job in jobs])
    assert (found.high <= told).all()


@given(st.lists(any_job, min_size=2, max_size=6))
@settings(max_examples=60, deadline=None)
def test_a_job_is_judged_by_itself_alone(jobs):
    together = away(*jobs).middle
    alone = np.hstack([away(job).middle for job in jobs])
    assert together == pytest.approx(alone, rel=1e-9, abs=1e-9)


@given(st.lists(st.floats(0.1, 10.0), min_size=1, max_size=12), st.floats(1e-6, 1e6))
def test_the_unit_of_a_loss_does_not_count(losses, scale):
    one, other = job_of(losses), job_of([scale * loss for loss in losses])
    assert away(one).middle == pytest.approx(away(other).middle, rel=1e-4, abs=1e-4)


@given(st.lists(st.lists(st.floats(-4.0, 4.0), min_size=len(MEAN), max_size=len(MEAN)), min_size=1, max_size=4),
       st.floats(1.0, 4096.0))  # fmt: skip
@settings(max_examples=100, deadline=None)
def test_quantiles_are_where_the_learned_distributions_reach_them(states, end):
    inputs, left = np.array(states).T, np.full(len(states), end)
    found = remaining(inputs * np.array(SPREAD)[:, None] + np.array(MEAN)[:, None], left)
    likely = chance(np.array(WEIGHTS), inputs, GRID[:, None] * np.ones(len(left)), left)
    for q, quantile in ((LOW, found.low), (MIDDLE, found.middle), (HIGH, found.high)):
        reached = quantile[:, None, :] <= GRID[None, :, None]
        assert ((likely >= q - 1e-9) | ~reached)[:, end > GRID].all()
        assert ((likely <= q + 1e-9) | reached)[:, end > GRID].all()


def test_before_its_losses_a_job_is_taken_for_one_of_its_kind():
    quick, slow = (Job("job", estimator=name, max_iterations=60) for name in ("LinearRegression", "GBTRegressor"))
    found = away(quick, slow).middle[0]
    assert found[0] < 10 < 25 < found[1]


def test_a_job_that_has_settled_is_past_its_milestones_and_one_that_falls_straight_is_not():
    settled, straight = 1.0 + 0.3 ** np.arange(30.0), 2.0 - np.arange(30.0) / 100.0
    found = away(job_of(settled, max_iterations=100), job_of(straight, max_iterations=100))
    assert found.middle[:2, 0].tolist() == [0.0, 0.0]
    assert found.middle[0, 1] > 30


def test_a_job_that_diverged_is_not_near_anything():
    broken = job_of([1.0, 0.5, 0.4, 0.3, np.nan], max_iterations=50)
    assert away(broken).middle[:, 0] == pytest.approx([47.0] * 3)


def test_recorded_runs_are_judged_well_from_four_losses_on():
    """Half of the runs are judged within a factor of 1.37 (2^0.45) of the truth."""
    errors = []
    for run in recorded_curves():
        losses = np.minimum.accumulate(np.asarray(run["losses"], dtype=np.float64))
        if run["kind"] != "smooth" or len(losses) < 12:
            continue
        goal = losses[0] - MILESTONES[0] * (losses[0] - losses[-1])
        true = int(np.argmax(losses <= goal))
        for made in (4, 8, 16):
            if made < len(losses) - 1:
                seen = job_of(run["losses"][: made + 1], max_iterations=len(losses) - 1)
                predicted = float(away(seen).middle[0, 0])
                errors.append(abs(np.log2((predicted + 1.0) / (max(true - made, 0) + 1.0))))
    assert len(errors) > 200
    assert np.median(errors) < 0.45

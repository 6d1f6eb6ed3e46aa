"""The outlook: what cores buy a job, for every kind of history."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaq.model import EXPECT_NOTHING, History, Job, Report
from slaq.predict import look_ahead
from tests.strategies import expectations, histories

CORES = np.arange(0.0, 65.0)


def job_of(losses, name="job", work_core_s=1.0, **declared) -> Job:
    history = History()
    for loss in losses:
        history = history.add(Report(loss, work_core_s=work_core_s))
    return Job(name, history=history, **declared)


def reductions(*jobs: Job, epoch_s=1.0) -> np.ndarray:
    outlook = look_ahead(jobs, epoch_s)
    return np.array([outlook.reduction(np.full(len(CORES), i), CORES) for i in range(len(jobs))])


def losses(*jobs: Job, epoch_s=1.0) -> np.ndarray:
    outlook = look_ahead(jobs, epoch_s)
    return np.array([outlook.loss(np.full(len(CORES), i), CORES) for i in range(len(jobs))])


any_jobs = st.builds(
    Job,
    id=st.just("job"),
    history=histories(),
    target_loss=st.none() | st.floats(-1e6, 1e6),
    ml=st.booleans(),
    max_cores=st.sampled_from([1.0, 8.0, math.inf]),
    attained_core_s=st.floats(0, 1e4),
    estimator=st.sampled_from(["", "KMeans", "GBTRegressor"]),
    max_iterations=st.none() | st.integers(0, 1000),
    expected=st.just(EXPECT_NOTHING) | expectations,
    due_core_s=st.just(0.0) | st.floats(0, 1e6),
)


@given(st.lists(any_jobs, min_size=1, max_size=5), st.sampled_from([0.1, 1.0, 60.0]))
@settings(max_examples=150, deadline=None)
def test_more_cores_never_buy_less_and_each_buys_at_most_what_the_one_before_did(jobs, epoch_s):
    gained = reductions(*jobs, epoch_s=epoch_s)
    assert np.isfinite(gained).all()
    assert (gained[:, 0] == 0).all()
    steps = np.diff(gained, axis=1)
    assert (steps >= -1e-9 * np.maximum(gained[:, 1:], 1)).all()
    assert (np.diff(steps, axis=1) <= 1e-9 * np.maximum(gained[:, 2:], 1)).all()


@given(st.lists(any_jobs, min_size=1, max_size=5))
@settings(max_examples=150, deadline=None)
def test_the_normalised_loss_lies_between_0_and_1_and_falls_with_cores(jobs):
    left = losses(*jobs)
    assert ((left >= 0) & (left <= 1)).all()
    assert (np.diff(left, axis=1) <= 1e-9).all()


@given(any_jobs, st.lists(any_jobs, max_size=3))
@settings(max_examples=50, deadline=None)
def test_nonsense_from_one_job_does_not_change_the_outlook_of_another(nonsense, others):
    steady = job_of([1 / k for k in range(1, 20)])
    np.testing.assert_array_equal(reductions(steady, nonsense, *others)[0], reductions(steady)[0])


def test_quality_does_not_depend_on_the_scale_of_the_loss():
    curve = 0.8 ** np.arange(15)
    small, large = reductions(job_of(curve), job_of(1e6 * curve - 3e5))
    np.testing.assert_allclose(small, large, rtol=1e-6)


def test_a_job_in_its_first_iterations_is_worth_more_than_one_near_its_end():
    young, old = reductions(job_of(0.8 ** np.arange(4)), job_of(0.8 ** np.arange(40)))
    assert young[4] > 20 * old[4]


@pytest.mark.parametrize("points", [0, 1])
def test_a_job_that_has_shown_nothing_yet_is_expected_to_improve(points):
    cold, old = reductions(job_of([1.0] * points), job_of(0.8 ** np.arange(40)))
    assert cold[1] > old[1]


def test_a_job_that_still_moves_is_never_written_off():
    for losses_so_far in ([5, 3, 2, 1.9, 1.85], [3, 1, 2, 1.5, 1.9, 1.4]):
        assert reductions(job_of(losses_so_far))[0][1] > 0.001


def test_after_a_plateau_a_drop_brings_the_job_back():
    flat = [1.0, 0.5] + [0.4] * 20
    before, after = reductions(job_of(flat), job_of([*flat, 0.3]))
    assert after[4] > 10 * before[4]


def test_a_job_whose_loss_rises_or_is_no_number_is_left_at_the_floor():
    steady = job_of(0.9 ** np.arange(20))
    hopeless = [job_of(range(20)), job_of([*(0.9 ** np.arange(20)), math.nan]), job_of([2.0] * 20)]
    gained = reductions(steady, *hopeless)
    assert (gained[1:, 1] < gained[0, 1] / 100).all()
    assert (losses(steady, *hopeless)[1:] == 0).all()


def test_a_target_loss_ends_the_interest_in_a_job_that_has_reached_it():
    curve = 0.9 ** np.arange(10)
    open_end, reached = reductions(job_of(curve), job_of(curve, target_loss=0.6))
    assert reached[4] < open_end[4] / 10


def test_a_target_loss_keeps_up_the_interest_in_a_job_that_stands_still_above_it():
    stuck = [1.0, 0.8, 0.7] + [0.65] * 10
    without, hinted = reductions(job_of(stuck), job_of(stuck, target_loss=0.1))
    assert hinted[4] > 10 * without[4]


def test_a_target_is_not_believed_in_the_more_the_longer_a_job_stands_still():
    early, late = (reductions(job_of([1.0, 0.8] + [0.7] * still, target_loss=0.1))[0] for still in (100, 2000))
    assert late[4] < early[4]


def test_an_iteration_that_drags_on_is_taken_for_a_longer_one():
    curve = 0.9 ** np.arange(10)
    usual, dragging = reductions(job_of(curve), job_of(curve, attained_core_s=100.0))
    assert dragging[4] < usual[4] / 10


def work_of(*jobs: Job) -> list[float]:
    return look_ahead(jobs, 1.0).runtime.work_core_s.tolist()


def test_getting_ready_is_done_once_and_does_not_make_every_iteration_longer():
    trained = job_of(0.9 ** np.arange(10), work_core_s=0.5, ready_core_s=2.0)
    fresh, nearly, late = (Job("young", estimator="KMeans", attained_core_s=spent) for spent in (0.0, 1.5, 8.0))
    outlook = look_ahead((trained, fresh, nearly, late), 1.0)
    assert outlook.runtime.work_core_s.tolist() == [0.5] * 4
    assert outlook.preparation_core_s.tolist() == [0.0, 2.0, 0.75, 4.0]
    assert outlook.work_until(0.9)[1] == pytest.approx(2.0 + 0.5 * outlook.until(0.9)[1])


def test_what_the_iteration_under_way_has_had_is_no_longer_ahead():
    begun = job_of(0.9 ** np.arange(10), max_iterations=50, attained_core_s=0.25)
    outlook = look_ahead((begun,), 1.0)
    assert outlook.work_until(1.0) == pytest.approx(outlook.until(1.0) - 0.25)


def test_cores_beyond_the_partitions_of_a_job_buy_nothing():
    gained = reductions(job_of(0.9 ** np.arange(10), max_cores=4))[0]
    assert gained[4] == gained[5] == gained[64]


def test_work_without_a_loss_has_no_outlook():
    assert (reductions(Job("etl", ml=False)) == 0).all()


def test_a_job_ends_after_the_iterations_it_was_told_at_the_latest_and_an_unknown_one_after_the_usual_number():
    curve = [1.0 + 1.0 / (k + 1) for k in range(21)]
    told, unknown, past = (job_of(curve, max_iterations=most) for most in (50, None, 10))
    ends = look_ahead((told, unknown, past), 1.0).until(1.0)
    assert 20.0 < ends[0] <= 30.0
    assert 50.0 < ends[1] <= 80.0
    assert ends[2] == 1.0


def test_a_job_whose_loss_is_nan_is_not_taken_to_be_nearly_over():
    broken = job_of([*(0.9 ** np.arange(11)), math.nan])
    assert look_ahead((broken,), 1.0).until(1.0).tolist() == [90.0]


def test_a_share_of_the_reduction_is_about_as_far_away_as_the_loss_takes_to_get_there():
    curve = [1.0 + (k + 1.0) ** -0.5 for k in range(11)]
    outlook = look_ahead((job_of(curve, max_iterations=100, work_core_s=0.5),), 1.0)
    away = [float(outlook.until(share)[0]) for share in (0.9, 0.95, 1.0)]
    assert (26.8 - 10) / 2 < away[0] < 2 * (26.8 - 10)
    assert away == sorted(away)
    assert outlook.ahead(np.array([0, 0]), np.array([3.0, 0.0])) == pytest.approx([6.0, 0.0])


@given(st.lists(any_jobs, min_size=1, max_size=5))
@settings(max_examples=100, deadline=None)
def test_a_share_is_reached_where_nothing_is_left_until_it(jobs):
    outlook = look_ahead(jobs, 1.0)
    reached = outlook.reached()
    assert ((reached >= 0.0) & (reached <= 1.0)).all()
    for share in (0.9, 0.95):
        assert (outlook.until(share)[reached > share + 1e-9] == 0.0).all()
        clearly_short = (reached < share - 1e-9) & (reached > 0.0)
        assert (outlook.until(share)[clearly_short] > 0.0).all()


@given(st.lists(any_jobs, min_size=1, max_size=5))
@settings(max_examples=100, deadline=None)
def test_every_share_is_a_finite_way_off_and_larger_ones_are_farther(jobs):
    outlook = look_ahead(jobs, 1.0)
    away = np.array([outlook.until(share) for share in (0.9, 0.95, 1.0)])
    assert np.isfinite(away).all()
    assert (away >= 0).all()
    assert (np.diff(away, axis=0) >= 0).all()

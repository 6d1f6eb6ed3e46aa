"""What the comparison measures, on runs whose numbers can be done in the head."""

import math

import pytest

from slaq.workload import measures
from slaq.workload.results import Sample, StreamRun, Trained


def job(name: str = "a", arrived_s: float = 1.0, model: tuple[float, ...] = (1.0, 2.0)) -> Trained:
    """Losses 10, 2, 1, 0.5, 0 at seconds 2, 3, 4, 5, 6; ends at 7."""
    return Trained(name, "KMeans", arrived_s, 7.0, (2.0, 3.0, 4.0, 5.0, 6.0), (10.0, 2.0, 1.0, 0.5, 0.0), model)


def run(*jobs: Trained, policy: str = "slaq", samples: tuple[Sample, ...] = ()) -> StreamRun:
    return StreamRun(policy, 0, 2, jobs, 8.0, 10.0, 12.0, 1.0, 14.5, samples)


def test_time_to_a_share_counts_from_arrival_to_the_first_loss_that_reaches_it() -> None:
    assert measures.time_to(job(), 0.8) == pytest.approx(2.0)
    assert measures.time_to(job(), 0.9) == pytest.approx(3.0)
    assert measures.time_to(job(), 0.95) == pytest.approx(4.0)
    assert measures.mean_time_to(run(job(), job(arrived_s=0.0)), 0.9) == pytest.approx(3.5)


def test_a_job_that_never_improved_took_all_its_time() -> None:
    risen = Trained("a", "KMeans", 1.0, 7.0, (2.0, 3.0), (1.0, 2.0))
    assert measures.time_to(risen, 0.9) == pytest.approx(6.0)


def test_the_last_loss_reaches_its_own_goal_though_it_is_missed_by_a_rounding_error() -> None:
    losses = (1.5, 0.7, 0.2)
    assert losses[0] - 1.0 * (losses[0] - losses[-1]) < losses[-1]
    rounded = Trained("a", "KMeans", 1.0, 7.0, (2.0, 3.0, 4.0), losses)
    assert measures.time_to(rounded, 1.0) == pytest.approx(3.0)


def test_normalised_loss_is_one_before_the_first_loss_and_zero_after_the_end() -> None:
    at = [measures.normalised_loss(job(), at_s) for at_s in (1.5, 2.0, 3.5, 6.5, 7.5)]
    assert at == pytest.approx([1.0, 1.0, 0.2, 0.0, 0.0])


def test_the_average_over_time_counts_jobs_from_their_arrival() -> None:
    grid, means = measures.loss_over_time(run(job()), 8.0, points=9)
    assert grid == pytest.approx(list(range(9)))
    assert means == pytest.approx([0.0, 1.0, 1.0, 0.2, 0.1, 0.05, 0.0, 0.0, 0.0])


def test_idle_cores_are_what_no_task_held() -> None:
    assert measures.idle_core_s(run(job())) == pytest.approx(6.0)


def test_models_are_compared_number_by_number() -> None:
    same, other = run(job()), run(job(model=(1.0, 2.0 + 2e-9)))
    assert measures.model_difference(same, same) == 0.0
    assert measures.model_difference(same, other) == pytest.approx(1e-9, rel=1e-3)
    assert measures.model_difference(same, run(job(model=()))) == math.inf
    assert measures.model_difference(same, run(job(model=(1.0, math.nan)))) == math.inf
    assert measures.final_loss_difference(same, other) == 0.0


def test_a_share_is_off_by_what_was_held_less_what_was_granted() -> None:
    samples = tuple(Sample(float(t), "a", 1.0, 0.75 * t, 0.0, pending=2) for t in range(5))
    assert measures.share_error(samples) == pytest.approx(0.25)


def test_a_job_without_waiting_tasks_may_hold_less_than_its_share() -> None:
    samples = tuple(Sample(float(t), "a", 1.0, 0.1 * t, 0.0, pending=0) for t in range(5))
    assert measures.share_error(samples) is None


def test_forecasts_of_a_straight_curve_hardly_miss() -> None:
    losses = tuple(0.8**k for k in range(30))
    straight = Trained("a", "KMeans", 0.0, 30.0, tuple(map(float, range(30))), losses)
    error = measures.forecast_error(run(straight))
    assert error is not None
    assert error < 0.05


def test_what_others_used_is_the_machine_s_cpu_time_without_the_run_s_own() -> None:
    assert measures.foreign_cpu_s(run(job())) == pytest.approx(14.5 - 12.0 - 1.0)

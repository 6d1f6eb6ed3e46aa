"""The paper's predictor: its fits against scipy's, its distances, and an outlook that every policy can use."""

import numpy as np
import pytest

from slaq import policy
from slaq.bench._baselines import BASELINES
from slaq.data import recorded_curves
from slaq.model import DEFAULTS, Snapshot
from slaq.predict import get
from slaq.predict.series import pack
from slaq.predict.weighted_fit import fit_series
from tests.predict.test_outlook import job_of
from tests.strategies import decided

K = np.arange(1.0, 201.0)
CURVES = {
    "1/k": 3.0 / K + 1.0,
    "1/k²": 1.0 / (0.01 * K**2 + 0.2) + 0.5,
    "both": 1.0 / (0.01 * K**2 + 0.1 * K + 1.0),
    "fast": 0.5**K + 0.3,
    "slow": 0.97**K + 0.3,
}


def outlook_of(*jobs, epoch_s=1.0):
    return get("weighted-fit")(jobs, epoch_s, DEFAULTS)


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("known", [10, 30, 100])
def test_curves_of_both_families_are_continued_within_three_percent(name, known):
    curve = CURVES[name]
    predicted = fit_series(pack([curve[:known]]), [0, 1, 10])[0]
    np.testing.assert_allclose(predicted, curve[[known - 1, known, known + 9]], atol=0.03 * np.ptp(curve[:known]))


def test_the_fits_are_as_good_as_scipys_on_recorded_runs():
    runs = [run["losses"] for run in recorded_curves() if run["kind"] == "smooth" and len(run["losses"]) > 45][::12]
    places = [(losses, known) for losses in runs for known in (8, 30)]
    ours = fit_series(pack([losses[:known] for losses, known in places]), [10])[:, 0]
    literal = [BASELINES["scipy-fit"](np.array(losses[:known]), np.array([10.0]))[0] for losses, known in places]
    truth = np.array([losses[known + 9] for losses, known in places])
    size = np.array([abs(losses[0] - losses[-1]) for losses, _ in places])
    assert np.mean(np.abs(ours - truth) / size) < 1.1 * np.mean(np.abs(literal - truth) / size)


def test_a_curve_of_losses_above_zero_never_falls_below_it():
    assert fit_series(pack([[4.0, 3.0, 2.0, 1.0]]), [4096])[0, 0] >= 0.0
    assert -2.0 >= fit_series(pack([[1.0, 0.0, -1.0, -2.0]]), [4096])[0, 0] >= -5.0


def test_through_two_losses_the_curve_is_one_over_k():
    np.testing.assert_allclose(fit_series(pack([[6.0, 3.0]]), [0, 1, 4]), [[3.0, 2.0, 1.0]], atol=1e-6)


@pytest.mark.parametrize("known", [5, 20])
def test_distances_follow_the_curve_to_the_end_of_the_job(known):
    curve = 0.9**K
    away = outlook_of(job_of(curve[:known], max_iterations=100, estimator="KMeans"))
    for share in (0.9, 0.95):
        goal = curve[0] - share * (curve[0] - curve[99])
        true = np.argmax(curve <= goal) + 1 - known
        # Between horizons of 2, 4, 8 … iterations the gain is taken for straight.
        assert away.until(share)[0] == pytest.approx(true, abs=1.0 + 0.1 * true)
    assert away.until(1.0).tolist() == [100.0 - (known - 1)]


def test_a_job_past_90_percent_is_there_and_says_so():
    outlook = outlook_of(job_of(0.7 ** K[:30], max_iterations=100))
    assert outlook.until(0.9).tolist() == [0.0]
    assert outlook.reached()[0] > 0.95


def test_a_job_without_a_curve_is_expected_at_95_percent_after_a_fifth_of_its_iterations():
    outlook = outlook_of(job_of([], max_iterations=100), job_of([5.0], max_iterations=101))
    assert outlook.until(0.95).tolist() == [20.0, 21.0]
    assert outlook.reached().tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", policy.names())
def test_every_policy_decides_by_it(name):
    histories = ([], [1.0], [2.0, 1.0], [1.0, 2.0], [3.0] * 9, CURVES["1/k"][:12], [1.0, None, 0.5])
    jobs = tuple(job_of(losses, f"job-{i}") for i, losses in enumerate(histories))
    decision = decided(name, Snapshot(jobs, 20, outlook_of(*jobs)))
    assert sum(decision.cores.values()) == pytest.approx(20.0)
    assert min(decision.cores.values()) >= 1.0 - 1e-9

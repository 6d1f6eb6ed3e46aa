"""What is usual of an algorithm is what the recorded runs say."""

from statistics import median

import pytest

from slaq.data import recorded_curves
from slaq.model import DEFAULTS
from slaq.predict.usual import TO_90

NEWTON = {"l-bfgs", "owl-qn"}
STEPS = {"gd", "sgd"}
RECORDED = {
    "ALS": ("ALS", None),
    "FMClassifier": ("FM", None),
    "FMRegressor": ("FM", None),
    "GBTClassifier": ("GBT", None),
    "GBTRegressor": ("GBTReg", None),
    "GaussianMixture": ("GMM", None),
    "GeneralizedLinearRegression": ("GLM", None),
    "KMeans": ("KMeans", None),
    "LDA": ("LDA", None),
    "LinearRegression": ("LinReg", NEWTON),
    "LinearSVC": ("SVM", NEWTON),
    "LogisticRegression": ("LogReg", NEWTON),
    "LogisticRegressionWithSGD": ("LogReg", STEPS),
    "MultilayerPerceptronClassifier": ("MLPC", NEWTON),
    "SVMWithSGD": ("SVM", STEPS),
}
"""Which runs tell of an estimator: their algorithm and, where it has several, the estimator's own optimizers."""


def to_90(losses: list[float]) -> int:
    goal = losses[0] - 0.9 * (losses[0] - losses[-1])
    return next(iteration for iteration, loss in enumerate(losses) if loss <= goal)


def falling_runs():
    return [run for run in recorded_curves() if len(run["losses"]) > 5 and run["losses"][0] > run["losses"][-1]]


@pytest.mark.parametrize("estimator", TO_90)
def test_an_estimator_takes_as_long_as_the_median_of_its_recorded_runs(estimator):
    algorithm, optimizers = RECORDED[estimator]
    runs = [run for run in falling_runs() if run["algorithm"] == algorithm]
    taken = [to_90(run["losses"]) for run in runs if optimizers is None or run["optimizer"] in optimizers]
    assert TO_90[estimator] == median(taken)


def test_any_other_estimator_is_expected_to_take_less_than_the_median_of_all_runs():
    assert DEFAULTS.unknown_to_90 < median(to_90(run["losses"]) for run in falling_runs()) == 11

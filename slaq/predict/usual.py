"""How many iterations an algorithm usually takes to 90 % of its loss reduction: all there is to go by at first.

Medians over the recorded runs in `slaq/data/mllib-traces.json`; a test holds the table to them.
"""

UNKNOWN = 6.5
"""Of an estimator that is not in the table: less than the median over all runs, which is 11, for an unknown job has to
run before it can be judged."""

TO_90 = {
    "ALS": 5.5,
    "FMClassifier": 25.0,
    "FMRegressor": 25.0,
    "GBTClassifier": 39.0,
    "GBTRegressor": 47.5,
    "GaussianMixture": 17.0,
    "GeneralizedLinearRegression": 1.0,
    "KMeans": 3.0,
    "LDA": 22.0,
    "LinearRegression": 3.0,
    "LinearSVC": 4.0,
    "LogisticRegression": 4.0,
    "LogisticRegressionWithSGD": 41.0,
    "MultilayerPerceptronClassifier": 14.0,
    "SVMWithSGD": 59.0,
}


def usual_to_90(estimator: str) -> float:
    """Iterations to 90 % of the loss reduction."""
    return TO_90.get(estimator, UNKNOWN)

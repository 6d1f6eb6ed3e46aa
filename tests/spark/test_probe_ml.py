"""Every iterative estimator of pyspark.ml: the probe's curve is Spark's own, or the loss the model ends with."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.ml import classification, clustering, feature, recommendation, regression
from pyspark.sql import DataFrame, SparkSession

from tests.spark import training_data
from tests.spark.probe_watch import watch

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def points(spark: SparkSession) -> DataFrame:
    return training_data.points(spark).cache()


@pytest.mark.parametrize(
    "estimator",
    [
        lambda: classification.LogisticRegression(maxIter=5),
        lambda: classification.LogisticRegression(maxIter=5, regParam=0.05, elasticNetParam=1.0),
        lambda: regression.LinearRegression(maxIter=5, labelCol="target", solver="l-bfgs"),
        lambda: regression.LinearRegression(
            maxIter=5, labelCol="target", solver="l-bfgs", regParam=0.1, elasticNetParam=0.5
        ),
        lambda: regression.LinearRegression(labelCol="target", solver="normal", regParam=0.1, elasticNetParam=0.5),
    ],
    ids=["logistic", "logistic-owlqn", "linear-lbfgs", "linear-owlqn", "linear-normal-quasi-newton"],
)
def test_the_curve_is_the_objective_history(
    spark: SparkSession, points: DataFrame, estimator: Callable[[], Any]
) -> None:
    with watch(spark) as seen:
        model = estimator().fit(points)
    job = seen.only()
    assert job.losses == list(model.summary.objectiveHistory)
    assert job.name == "objective"
    assert job.begin["convergence"] == "linear"
    assert job.begin["params"]["maxIter"] >= 5


def test_linear_svc(spark: SparkSession, points: DataFrame) -> None:
    with watch(spark) as seen:
        model = classification.LinearSVC(maxIter=4).fit(points)
    assert seen.only().losses == list(model.summary().objectiveHistory)


@pytest.mark.parametrize(
    ("estimator", "convergence"),
    [
        (lambda: regression.AFTSurvivalRegression(labelCol="target", maxIter=4), "linear"),
        (lambda: classification.MultilayerPerceptronClassifier(layers=[3, 3, 2], maxIter=4, seed=1), "linear"),
        (
            lambda: classification.MultilayerPerceptronClassifier(layers=[3, 3, 2], maxIter=4, seed=1, solver="gd"),
            "sublinear",
        ),
        (lambda: classification.FMClassifier(maxIter=4, seed=1), "sublinear"),
        (lambda: regression.FMRegressor(maxIter=4, seed=1, labelCol="target"), "sublinear"),
    ],
    ids=["aft", "mlp", "mlp-gd", "fm-classifier", "fm-regressor"],
)
def test_optimizers_whose_history_spark_does_not_keep(
    spark: SparkSession, points: DataFrame, estimator: Callable[[], Any], convergence: str
) -> None:
    with watch(spark) as seen:
        model = estimator().fit(points)
    job = seen.only()
    assert job.name == "objective"
    assert len(job.losses) == 5
    assert job.begin["convergence"] == convergence
    if hasattr(model, "summary") and callable(model.summary):
        assert job.losses == list(model.summary().objectiveHistory)


@pytest.mark.parametrize("solver", ["row", "block"])
def test_kmeans(spark: SparkSession, points: DataFrame, solver: str) -> None:
    with watch(spark) as seen:
        model = clustering.KMeans(k=3, seed=1, maxIter=4, solver=solver).fit(points)
    job = seen.only()
    assert job.losses[-1] == model.summary.trainingCost
    assert len(job.losses) == model.summary.numIter
    assert job.falls()


def test_bisecting_kmeans(spark: SparkSession, points: DataFrame) -> None:
    with watch(spark) as seen:
        model = clustering.BisectingKMeans(k=3, seed=1, maxIter=2).fit(points)
    job = seen.only()
    assert job.losses[-1] == pytest.approx(model.summary.trainingCost, rel=1e-12)
    # The root, then two iterations on each of two levels.
    assert len(job.losses) == 5


def test_gaussian_mixture(spark: SparkSession, points: DataFrame) -> None:
    with watch(spark) as seen:
        model = clustering.GaussianMixture(k=2, seed=1, maxIter=4).fit(points)
    job = seen.only()
    assert job.losses[-1] == -model.summary.logLikelihood
    assert len(job.losses) == model.summary.numIter


@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_generalized_linear_regression_tells_what_is_left_to_gain(
    spark: SparkSession, points: DataFrame, family: str
) -> None:
    label = "label" if family == "binomial" else "target"
    with watch(spark) as seen:
        model = regression.GeneralizedLinearRegression(family=family, labelCol=label, maxIter=10).fit(points)
        one_step = regression.GeneralizedLinearRegression(family=family, labelCol=label, maxIter=1).fit(points)
    job, _ = seen.jobs
    assert job.name == "newtonDecrement"
    assert len(job.losses) == model.summary.numIterations
    assert job.falls()
    assert job.losses[-1] < 1e-9
    # Before the second step, it is how far half the deviance lies above the optimum.
    left = (one_step.summary.deviance - model.summary.deviance) / 2
    assert job.losses[1] == pytest.approx(left, rel=0.2)


@pytest.mark.parametrize("estimator", [regression.LinearRegression, regression.GeneralizedLinearRegression])
def test_a_closed_form_reports_its_residual_once(spark: SparkSession, points: DataFrame, estimator: type) -> None:
    solver = {"solver": "normal"} if estimator is regression.LinearRegression else {"family": "gaussian"}
    with watch(spark) as seen:
        model = estimator(labelCol="target", **solver).fit(points)
    residuals = model.transform(points).selectExpr("avg(pow(target - prediction, 2)) / 2").first()[0]
    assert seen.only().losses == [pytest.approx(residuals, rel=1e-9)]


def test_gbt_classifier(spark: SparkSession, points: DataFrame) -> None:
    with watch(spark) as seen:
        model = classification.GBTClassifier(maxIter=4, maxDepth=2, seed=1).fit(points)
    job = seen.only()
    assert job.losses == pytest.approx(list(model.evaluateEachIteration(points)), rel=1e-9)
    assert job.begin["convergence"] == "sublinear"


def test_gbt_regressor(spark: SparkSession, points: DataFrame) -> None:
    with watch(spark) as seen:
        model = regression.GBTRegressor(maxIter=4, maxDepth=2, seed=1, labelCol="target").fit(points)
    assert seen.only().losses == pytest.approx(list(model.evaluateEachIteration(points, "squared")), rel=1e-9)


@pytest.mark.parametrize("nonnegative", [False, True])
def test_als(spark: SparkSession, nonnegative: bool) -> None:
    data = training_data.ratings(spark)
    als = recommendation.ALS(
        rank=2, maxIter=3, regParam=0.1, seed=1, nonnegative=nonnegative, numUserBlocks=3, numItemBlocks=2
    )
    with watch(spark) as seen:
        model = als.fit(data)
    job = seen.only()
    assert len(job.losses) == 3
    assert job.falls()
    assert job.losses[-1] == pytest.approx(explicit_objective(model, data, 0.1), rel=1e-5)


def explicit_objective(model: Any, data: DataFrame, reg: float) -> float:
    """Squared errors and the penalty that weighs each factor by its number of ratings, per rating."""
    users = {row.id: row.features for row in model.userFactors.collect()}
    items = {row.id: row.features for row in model.itemFactors.collect()}
    rows = data.collect()
    total = 0.0
    for row in rows:
        user, item = users[row.user], items[row.item]
        error = row.rating - sum(a * b for a, b in zip(user, item, strict=True))
        total += error**2 + reg * (sum(a * a for a in user) + sum(b * b for b in item))
    return total / len(rows)


def test_als_implicit(spark: SparkSession) -> None:
    data = training_data.ratings(spark)
    with watch(spark) as seen:
        model = recommendation.ALS(
            rank=2, maxIter=3, regParam=0.1, alpha=0.5, seed=1, implicitPrefs=True, numUserBlocks=2
        ).fit(data)
    job = seen.only()
    assert len(job.losses) == 3
    assert job.losses[-1] == pytest.approx(implicit_objective(model, data, 0.1, 0.5), rel=1e-5)


def implicit_objective(model: Any, data: DataFrame, reg: float, alpha: float) -> float:
    """Every pair counts: a preference of 1 with confidence 1 + αr where there is a rating, of 0 with 1 elsewhere."""
    users = {row.id: row.features for row in model.userFactors.collect()}
    items = {row.id: row.features for row in model.itemFactors.collect()}
    rated = {(row.user, row.item): row.rating for row in data.collect()}
    total = 0.0
    for user, x in users.items():
        for item, y in items.items():
            rating = rated.get((user, item))
            score = sum(a * b for a, b in zip(x, y, strict=True))
            total += score**2 if rating is None else (1 + alpha * rating) * (1 - score) ** 2
            if rating is not None:
                total += reg * (sum(a * a for a in x) + sum(b * b for b in y))
    return total / len(rated)


def test_lda_em(spark: SparkSession) -> None:
    documents = training_data.documents(spark).cache()
    with watch(spark) as seen:
        short = clustering.LDA(k=2, maxIter=2, optimizer="em", seed=1).fit(documents)
        clustering.LDA(k=2, maxIter=4, optimizer="em", seed=1).fit(documents)
    first, second = seen.jobs
    assert second.losses[:2] == pytest.approx(first.losses, rel=1e-9)
    assert second.falls()
    tokens = sum(row.features.toArray().sum() for row in documents.collect())
    posterior = short.trainingLogLikelihood() + short.logPrior()
    # A value is what the model is before its iteration: the third is that of the model of two iterations.
    assert second.losses[2] * tokens == pytest.approx(-posterior, rel=1e-9)


def test_lda_online(spark: SparkSession) -> None:
    documents = training_data.documents(spark).cache()
    with watch(spark) as seen:
        clustering.LDA(k=2, maxIter=8, optimizer="online", seed=1, subsamplingRate=0.5).fit(documents)
    job = seen.only()
    assert len(job.losses) == 8
    assert job.begin["convergence"] == "noisy"
    # Untrained topics are as good as chance; trained ones know half of the vocabulary each.
    assert job.losses[0] > math.log(12)
    assert job.losses[-1] < job.losses[0]


def test_word2vec(spark: SparkSession) -> None:
    sentences = training_data.sentences(spark)
    with watch(spark) as seen:
        feature.Word2Vec(vectorSize=3, minCount=0, maxIter=3, seed=1, inputCol="words").fit(sentences)
    job = seen.only()
    assert job.name == "skipGramLoss"
    assert len(job.losses) == 3
    assert job.falls()


def test_power_iteration_clustering(spark: SparkSession) -> None:
    with watch(spark) as seen:
        clustering.PowerIterationClustering(k=2, maxIter=4).assignClusters(training_data.similarities(spark))
    job = seen.only()
    # The k-means it ends with has costs too, which are no part of this curve.
    assert job.name == "delta"
    assert len(job.losses) == 4


@pytest.mark.parametrize(
    "estimator",
    [
        lambda: classification.RandomForestClassifier(numTrees=2, maxDepth=2, seed=1),
        lambda: regression.DecisionTreeRegressor(maxDepth=2, labelCol="target"),
        lambda: regression.IsotonicRegression(labelCol="target"),
        lambda: classification.NaiveBayes(modelType="gaussian"),
    ],
    ids=["forest", "tree", "isotonic", "bayes"],
)
def test_fits_without_iterations_are_jobs_without_a_curve(
    spark: SparkSession, points: DataFrame, estimator: Callable[[], Any]
) -> None:
    with watch(spark) as seen:
        estimator().fit(points)
    job = seen.only()
    assert job.losses == []
    assert job.begin["convergence"] == "none"

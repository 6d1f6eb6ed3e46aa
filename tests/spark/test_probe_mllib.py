"""The old RDD API has no fit scope of its own: each of its entry points is a job, with the curve of its algorithm."""

import pytest
from pyspark.mllib import classification, clustering, feature, recommendation, regression, tree
from pyspark.mllib.linalg import Vectors
from pyspark.mllib.regression import LabeledPoint
from pyspark.sql import SparkSession

from tests.spark import training_data
from tests.spark.probe_watch import watch

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def labelled(spark: SparkSession):  # type: ignore[no-untyped-def]
    rows = [LabeledPoint(row.label, row.features.toArray()) for row in training_data.points(spark).collect()]
    return spark.sparkContext.parallelize(rows, 2).cache()


@pytest.fixture(scope="module")
def vectors(labelled):  # type: ignore[no-untyped-def]
    return labelled.map(lambda point: point.features).cache()


@pytest.mark.parametrize(
    ("algorithm", "fraction", "convergence"),
    [
        (classification.SVMWithSGD, 1.0, "sublinear"),
        (classification.LogisticRegressionWithSGD, 0.5, "noisy"),
        (regression.LinearRegressionWithSGD, 1.0, "sublinear"),
    ],
)
def test_gradient_descent(spark: SparkSession, labelled, algorithm, fraction: float, convergence: str) -> None:  # type: ignore[no-untyped-def]
    with watch(spark) as seen:
        algorithm.train(labelled, iterations=4, miniBatchFraction=fraction)
    job = seen.only()
    assert job.estimator == algorithm.__name__
    assert job.name == "objective"
    assert job.begin["convergence"] == convergence
    assert job.begin["params"]["maxIter"] == 4
    assert 2 <= len(job.losses) <= 5


def test_lbfgs_for_several_classes(spark: SparkSession, labelled) -> None:  # type: ignore[no-untyped-def]
    data = labelled.map(lambda point: LabeledPoint(point.label + (1 if point.features[2] > 0.5 else 0), point.features))
    with watch(spark) as seen:
        classification.LogisticRegressionWithLBFGS.train(data, iterations=4, numClasses=3)
    job = seen.only()
    assert (job.estimator, job.begin["api"]) == ("LogisticRegressionWithLBFGS", "mllib")
    assert job.falls()


def test_lbfgs_for_two_classes_is_a_fit_of_the_new_api(spark: SparkSession, labelled) -> None:  # type: ignore[no-untyped-def]
    with watch(spark) as seen:
        classification.LogisticRegressionWithLBFGS.train(labelled, iterations=4)
    job = seen.only()
    assert (job.estimator, job.begin["api"]) == ("LogisticRegression", "ml")
    assert job.falls()


def test_kmeans(spark: SparkSession, vectors) -> None:  # type: ignore[no-untyped-def]
    with watch(spark) as seen:
        clustering.KMeans.train(vectors, 2, maxIterations=3, seed=1)
    job = seen.only()
    assert job.name == "cost"
    assert job.falls()
    assert job.begin["params"]["maxIter"] == 3


def test_bisecting_kmeans(spark: SparkSession, vectors) -> None:  # type: ignore[no-untyped-def]
    with watch(spark) as seen:
        model = clustering.BisectingKMeans.train(vectors, k=2, maxIterations=2, seed=1)
    assert seen.only().losses[-1] == pytest.approx(model._java_model.trainingCost(), rel=1e-9)


def test_gaussian_mixture(spark: SparkSession, vectors) -> None:  # type: ignore[no-untyped-def]
    with watch(spark) as seen:
        clustering.GaussianMixture.train(vectors, 2, maxIterations=3, seed=1)
    job = seen.only()
    assert job.name == "negLogLikelihood"
    assert len(job.losses) == 3
    assert job.falls()


def test_lda(spark: SparkSession) -> None:
    documents = training_data.documents(spark).rdd.map(lambda row: Vectors.dense(row.features.toArray()))
    corpus = documents.zipWithIndex().map(lambda pair: [pair[1], pair[0]]).cache()
    with watch(spark) as seen:
        clustering.LDA.train(corpus, k=2, maxIterations=3, seed=1, optimizer="em")
        clustering.LDA.train(corpus, k=2, maxIterations=3, seed=1, optimizer="online")
    em, online = seen.jobs
    assert (em.name, len(em.losses), em.begin["convergence"]) == ("negLogPosteriorPerToken", 3, "linear")
    assert (online.name, online.begin["convergence"]) == ("topicWordSurprise", "noisy")


def test_als(spark: SparkSession) -> None:
    data = training_data.ratings(spark).rdd.map(tuple).cache()
    with watch(spark) as seen:
        recommendation.ALS.train(data, rank=2, iterations=2, seed=1, blocks=2)
        recommendation.ALS.trainImplicit(data, rank=2, iterations=2, seed=1, blocks=2)
    for job in seen.jobs:
        assert (job.name, len(job.losses)) == ("objective", 2)
        assert job.falls()
    assert len(seen.jobs) == 2


def test_gradient_boosted_trees(spark: SparkSession, labelled) -> None:  # type: ignore[no-untyped-def]
    with watch(spark) as seen:
        tree.GradientBoostedTrees.trainRegressor(labelled, {}, numIterations=3, maxDepth=2)
    job = seen.only()
    assert len(job.losses) == 3
    assert job.falls()
    assert job.begin["params"]["maxIter"] == 3


def test_word2vec_of_one_iteration_has_one_value(spark: SparkSession) -> None:
    with watch(spark) as seen:
        feature.Word2Vec().setVectorSize(3).setMinCount(0).setSeed(1).fit(
            training_data.sentences(spark).rdd.map(lambda row: row.words)
        )
    assert len(seen.only().losses) == 1


def test_power_iteration_clustering(spark: SparkSession) -> None:
    with watch(spark) as seen:
        clustering.PowerIterationClustering.train(training_data.similarities(spark).rdd.map(tuple), 2, maxIterations=3)
    job = seen.only()
    assert (job.name, len(job.losses)) == ("delta", 3)


def test_every_batch_of_streaming_kmeans_is_a_fit(spark: SparkSession, vectors) -> None:  # type: ignore[no-untyped-def]
    model = clustering.StreamingKMeansModel([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]], [0.0, 0.0])
    with watch(spark) as seen:
        for _ in range(3):
            model.update(vectors, 1.0, "batches")
    losses = [job.losses for job in seen.jobs]
    assert [len(curve) for curve in losses] == [1, 1, 1]
    assert losses[0][0] > losses[1][0] > losses[2][0] >= 0


def test_all_batches_of_a_streaming_model_are_one_job(spark: SparkSession, labelled, vectors) -> None:  # type: ignore[no-untyped-def]
    model = clustering.StreamingKMeansModel([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]], [0.0, 0.0])
    # What Spark Streaming sets in the thread that runs a mini-batch.
    spark.sparkContext.setLocalProperty("spark.streaming.internal.outputOpId", "7")
    try:
        with watch(spark) as seen:
            for _ in range(3):
                model.update(vectors, 1.0, "batches")
                regression.LinearRegressionWithSGD.train(labelled, iterations=2)
    finally:
        spark.sparkContext.setLocalProperty("spark.streaming.internal.outputOpId", None)
    clusters, line = seen.jobs
    assert (clusters.estimator, len(clusters.losses), clusters.end) == ("StreamingKMeansModel", 3, None)
    assert (line.estimator, line.end) == ("LinearRegressionWithSGD", None)
    assert len(line.losses) >= 6
    assert "streaming model" in line.begin["unstoppable"], "a stop would cut every later batch short"


def test_trees_are_jobs_without_a_curve(spark: SparkSession, labelled) -> None:  # type: ignore[no-untyped-def]
    with watch(spark) as seen:
        tree.DecisionTree.trainRegressor(labelled, {}, maxDepth=2)
    assert seen.only().losses == []

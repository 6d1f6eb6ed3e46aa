"""A fit that is stopped after k iterations returns the model of `maxIter=k`, which can be saved, loaded and used.

The stop is asked for when the fit begins ("after k iterations"), so that no clock decides where it ends.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.ml import Pipeline, classification, clustering, feature, recommendation, regression, tuning
from pyspark.ml.evaluation import BinaryClassificationEvaluator
from pyspark.mllib import classification as old_classification
from pyspark.mllib import clustering as old_clustering
from pyspark.mllib import tree as old_tree
from pyspark.mllib.regression import LabeledPoint
from pyspark.sql import DataFrame, SparkSession

from slaq.spark.bridge import Bridge
from slaq.spark.records import ASKED, ASKED_BEFORE, UNKNOWN, Begin, End, Loss
from tests.spark import training_data
from tests.spark.probe_watch import health, watch
from tests.spark.test_probe_faults import set_static

pytestmark = pytest.mark.spark

MANY = 12
"""What `maxIter` is of the fits that are stopped."""


def one_partition(spark: SparkSession) -> dict[str, DataFrame]:
    """Of several Spark adds up in the order in which their tasks end, and the last digit varies."""
    kinds = ("points", "ratings", "documents", "sentences")
    return {name: getattr(training_data, name)(spark).coalesce(1).cache() for name in kinds}


@pytest.fixture(scope="module")
def data(spark: SparkSession) -> dict[str, DataFrame]:
    return one_partition(spark)


@contextmanager
def stopped_after(spark: SparkSession, iterations: int) -> Iterator[None]:
    """Every fit in the block is asked, as it begins, to stop after so many iterations."""
    stops = spark._jvm.io.slaq.probe.Stops
    stops.afterEach(iterations)
    try:
        yield
    finally:
        stops.afterEach(0)


def eventually(condition: Callable[[], Any], timeout_s: float = 30.0) -> Any:
    """The condition's value once it is true."""
    ends = time.monotonic() + timeout_s
    while not (value := condition()):
        assert time.monotonic() < ends, "waited in vain"
        time.sleep(0.02)
    return value


def numbers(model: Any) -> Any:
    """All that a model has learned, to the last bit."""
    java = model._java_obj
    name = java.getClass().getSimpleName()
    if name in ("GBTClassificationModel", "GBTRegressionModel"):
        return (model.toDebugString.split("\n", 1)[1], list(model.treeWeights))
    if name == "ALSModel":
        return [
            sorted((row.id, tuple(row.features)) for row in rows.collect())
            for rows in (model.userFactors, model.itemFactors)
        ]
    if name == "GaussianMixtureModel":
        return (list(model.weights), [(str(each.mean), str(each.cov)) for each in model.gaussiansDF.collect()])
    if name in ("LocalLDAModel", "DistributedLDAModel"):
        return model.topicsMatrix().toArray().tolist()
    if name in ("KMeansModel", "BisectingKMeansModel"):
        return [list(center) for center in model.clusterCenters()]
    if name == "MultilayerPerceptronClassificationModel":
        return list(model.weights)
    if name.startswith("FM"):
        return (model.intercept, list(model.linear), model.factors.toArray().tolist())
    return (model.intercept, list(model.coefficients))


ESTIMATORS: dict[str, tuple[str, Callable[[int], Any]]] = {
    "logistic": ("points", lambda n: classification.LogisticRegression(maxIter=n, tol=0.0)),
    "logistic-owlqn": (
        "points",
        lambda n: classification.LogisticRegression(maxIter=n, tol=0.0, regParam=0.05, elasticNetParam=1.0),
    ),
    "linear": (
        "points",
        lambda n: regression.LinearRegression(maxIter=n, tol=0.0, labelCol="target", solver="l-bfgs"),
    ),
    "svc": ("points", lambda n: classification.LinearSVC(maxIter=n, tol=0.0)),
    "aft": ("points", lambda n: regression.AFTSurvivalRegression(maxIter=n, tol=0.0, labelCol="target")),
    "mlp": (
        "points",
        lambda n: classification.MultilayerPerceptronClassifier(layers=[3, 3, 2], maxIter=n, tol=0.0, seed=1),
    ),
    "mlp-gd": (
        "points",
        lambda n: classification.MultilayerPerceptronClassifier(
            layers=[3, 3, 2], maxIter=n, tol=0.0, seed=1, solver="gd"
        ),
    ),
    "fm-classifier": ("points", lambda n: classification.FMClassifier(maxIter=n, tol=0.0, seed=1)),
    "fm-regressor": ("points", lambda n: regression.FMRegressor(maxIter=n, tol=0.0, seed=1, labelCol="target")),
    "kmeans-row": ("points", lambda n: clustering.KMeans(k=4, seed=1, maxIter=n, tol=0.0, solver="row")),
    "kmeans-block": ("points", lambda n: clustering.KMeans(k=4, seed=1, maxIter=n, tol=0.0, solver="block")),
    "gaussian-mixture": ("points", lambda n: clustering.GaussianMixture(k=2, seed=1, maxIter=n, tol=0.0)),
    "glr": (
        "points",
        lambda n: regression.GeneralizedLinearRegression(family="poisson", labelCol="target", maxIter=n, tol=0.0),
    ),
    "gbt-classifier": ("points", lambda n: classification.GBTClassifier(maxIter=n, maxDepth=2, seed=1)),
    "gbt-regressor": (
        "points",
        lambda n: regression.GBTRegressor(maxIter=n, maxDepth=2, seed=1, labelCol="target"),
    ),
    "lda-em": ("documents", lambda n: clustering.LDA(k=2, maxIter=n, optimizer="em", seed=1)),
    "lda-online": (
        "documents",
        lambda n: clustering.LDA(k=2, maxIter=n, optimizer="online", seed=1, subsamplingRate=0.5),
    ),
    "als-implicit": (
        "ratings",
        lambda n: recommendation.ALS(rank=2, maxIter=n, implicitPrefs=True, seed=1, numUserBlocks=2, numItemBlocks=2),
    ),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_model_is_that_of_as_many_iterations(
    spark: SparkSession, data: dict[str, DataFrame], tmp_path: Path, name: str
) -> None:
    kind, estimator = ESTIMATORS[name]
    rows, k = data[kind], 3
    with watch(spark) as seen:
        expected = estimator(k).fit(rows)
        with stopped_after(spark, k):
            model = estimator(MANY).fit(rows)
    short, stopped = seen.jobs
    assert not short.end["stopped"]
    assert stopped.end["ok"]
    assert stopped.end["stopped"]
    assert stopped.begin["unstoppable"] is None
    assert numbers(model) == numbers(expected)
    # Gradient descent computes the loss of its last step in one more pass, which is not made.
    spare = 1 if name in ("mlp-gd", "fm-classifier", "fm-regressor") else 0
    assert stopped.losses == short.losses[: len(short.losses) - spare]

    path = str(tmp_path / "model")
    model.write().save(path)
    loaded = type(model).load(path)
    assert numbers(loaded) == numbers(model)
    scored = [model.transform(rows), loaded.transform(rows), expected.transform(rows)]
    first, second, third = (sorted(str(row) for row in each.collect()) for each in scored)
    assert len(first) == rows.count()
    if kind != "documents":  # the inference of topics draws random numbers
        assert first == second == third


def test_bisecting_kmeans_grows_its_tree_with_one_iteration_a_level(
    spark: SparkSession, data: dict[str, DataFrame]
) -> None:
    """Stopped after one iteration it is `maxIter=1`. Later it equals no `maxIter`: levels above had more iterations."""
    rows = data["points"]
    with watch(spark) as seen:
        expected = clustering.BisectingKMeans(k=4, seed=1, maxIter=1).fit(rows)
        with stopped_after(spark, 1):
            model = clustering.BisectingKMeans(k=4, seed=1, maxIter=MANY).fit(rows)
        with stopped_after(spark, 3):
            later = clustering.BisectingKMeans(k=4, seed=1, maxIter=MANY).fit(rows)
    _, stopped, partly = seen.jobs
    assert numbers(model) == numbers(expected)
    assert stopped.end["stopped"]
    assert partly.end["stopped"]
    # The root, three iterations on the first level, one on the second.
    assert len(partly.losses) == 5
    assert len(later.clusterCenters()) == len(model.clusterCenters()) == 4


def test_word2vec_keeps_what_its_first_iterations_made(spark: SparkSession, data: dict[str, DataFrame]) -> None:
    """It equals no shorter run: the learning rate falls with the share of `maxIter` that is done.

    The losses of its first iterations are those of a run that goes on, and nothing changes after them.
    """

    def estimator(iterations: int) -> feature.Word2Vec:
        return feature.Word2Vec(vectorSize=3, minCount=0, maxIter=iterations, seed=1, inputCol="words")

    with watch(spark) as seen:
        estimator(5).fit(data["sentences"])
        with stopped_after(spark, 2):
            model = estimator(5).fit(data["sentences"])
    whole, stopped = seen.jobs
    assert stopped.end["stopped"]
    assert stopped.losses == whole.losses[:2]
    assert model.transform(data["sentences"]).count() == data["sentences"].count()
    assert len(model.findSynonyms("a", 3).collect()) == 3


def test_power_iteration_is_stopped_and_the_kmeans_after_it_is_not(spark: SparkSession) -> None:
    edges = training_data.similarities(spark)

    def assigned(iterations: int) -> list[Any]:
        clustered = clustering.PowerIterationClustering(k=2, maxIter=iterations).assignClusters(edges)
        return sorted(map(tuple, clustered.collect()))

    with watch(spark) as seen:
        expected = assigned(3)
        with stopped_after(spark, 3):
            found = assigned(MANY)
    short, stopped = seen.jobs
    assert found == expected
    assert (stopped.losses, stopped.end["stopped"]) == (short.losses, True)


@pytest.fixture(scope="module")
def labelled(data: dict[str, DataFrame]) -> Any:
    return data["points"].rdd.map(lambda row: LabeledPoint(row.label, row.features.toArray())).cache()


MLLIB: dict[str, Callable[[Any, int], Any]] = {
    "svm-sgd": lambda rows, n: old_classification.SVMWithSGD.train(rows, iterations=n, convergenceTol=0.0).weights,
    "lbfgs": lambda rows, n: (
        old_classification.LogisticRegressionWithLBFGS.train(
            rows.map(lambda row: LabeledPoint(row.label + (row.features[2] > 0.5), row.features)),
            iterations=n,
            numClasses=3,
            tolerance=0.0,
        ).weights
    ),
    "kmeans": lambda rows, n: (
        old_clustering.KMeans.train(
            rows.map(lambda row: row.features), 4, maxIterations=n, seed=1, epsilon=0.0
        ).clusterCenters
    ),
    "gaussian-mixture": lambda rows, n: (
        old_clustering.GaussianMixture.train(
            rows.map(lambda row: row.features), 2, maxIterations=n, seed=1, convergenceTol=0.0
        ).weights
    ),
    "gbt": lambda rows, n: old_tree.GradientBoostedTrees.trainRegressor(
        rows, {}, numIterations=n, maxDepth=2
    ).toDebugString(),
}


@pytest.mark.parametrize("name", MLLIB)
def test_the_old_api(spark: SparkSession, labelled: Any, name: str) -> None:
    train = MLLIB[name]
    with watch(spark) as seen:
        expected = train(labelled, 3)
        with stopped_after(spark, 3):
            model = train(labelled, MANY)
    short, stopped = seen.jobs
    assert str(model) == str(expected)
    assert stopped.end["stopped"]
    assert stopped.losses == short.losses[: len(stopped.losses)]


def test_fits_of_wrappers_are_stopped_one_by_one_and_the_wrapper_goes_on(
    spark: SparkSession, data: dict[str, DataFrame]
) -> None:
    rows = data["points"]
    logistic = classification.LogisticRegression(tol=0.0)
    grid = tuning.ParamGridBuilder().addGrid(logistic.maxIter, [3, MANY]).build()
    search = tuning.CrossValidator(
        estimator=Pipeline(stages=[logistic]),
        estimatorParamMaps=grid,
        evaluator=BinaryClassificationEvaluator(),
        numFolds=2,
        seed=1,
    )
    with watch(spark) as seen, stopped_after(spark, 3):
        found = search.fit(rows)
    # The same three iterations, whatever the grid says.
    assert found.avgMetrics[0] == found.avgMetrics[1]
    ends = [(job.begin["params"]["maxIter"], job.end["stopped"]) for job in seen.jobs]
    assert sorted(ends[:4]) == [(3, False), (3, False), (MANY, True), (MANY, True)]
    assert [fit.end["stopped"] for fit in seen.fits if fit.begin["wrapper"]] == [False] * (len(seen.fits) - len(ends))


@pytest.mark.parametrize(
    ("estimator", "kind", "obstacle"),
    [
        (lambda: recommendation.ALS(rank=2, maxIter=3, seed=1), "ratings", "explicit ALS runs all its iterations in"),
        (
            lambda: classification.RandomForestClassifier(numTrees=2, maxDepth=2, seed=1),
            "points",
            "RandomForestClassifier does not train in iterations",
        ),
        (
            lambda: regression.LinearRegression(solver="normal", labelCol="target"),
            "points",
            "LinearRegression does not train in iterations",
        ),
    ],
    ids=["als-explicit", "forest", "closed-form"],
)
def test_what_cannot_be_stopped_says_so_and_goes_on(
    spark: SparkSession, data: dict[str, DataFrame], estimator: Callable[[], Any], kind: str, obstacle: str
) -> None:
    with watch(spark) as seen, stopped_after(spark, 1):
        estimator().fit(data[kind])
    job = seen.only()
    assert job.begin["unstoppable"].startswith(obstacle)
    assert not job.end["stopped"]


def test_a_failing_hook_lets_the_fit_run_to_its_end(spark: SparkSession, data: dict[str, DataFrame]) -> None:
    expected = classification.LogisticRegression(maxIter=3, tol=0.0).fit(data["points"])
    set_static(spark, "io.slaq.probe.Health", "fault", "stop")
    try:
        with watch(spark) as seen, stopped_after(spark, 2):
            # It fails once: a hook that fails three times is not called any more in this JVM.
            model = classification.LogisticRegression(maxIter=3, tol=0.0).fit(data["points"])
    finally:
        set_static(spark, "io.slaq.probe.Health", "fault", None)
    assert numbers(model) == numbers(expected)
    assert not seen.only().end["stopped"]


def test_a_held_fit_that_is_stopped_gets_its_cores_and_ends(bridge: Bridge, data: dict[str, DataFrame]) -> None:
    models: list[Any] = []
    endless = classification.MultilayerPerceptronClassifier(layers=[3, 3, 2], maxIter=10**6, tol=0.0, solver="gd")
    thread = threading.Thread(target=lambda: models.append(endless.fit(data["points"])))
    thread.start()
    job = eventually(lambda: [event.job for event in bridge.poll().events if isinstance(event, Loss)])[-1]
    bridge.grant({job: 0.0}, lease_s=600)
    eventually(lambda: bridge.poll().job(job).running == 0)
    assert bridge.stop(job, "a test wants it", after_iterations=10**6) == ASKED
    assert bridge.stop(job, "a test wants it") == ASKED
    assert bridge.stop(job, "a test wants it") == ASKED_BEFORE
    bridge.grant({job: 0.0}, lease_s=600)  # the scheduler's next word, which does not hold it again
    thread.join(30)
    assert len(models) == 1
    (end,) = [event for event in bridge.poll().events if isinstance(event, End) and event.job == job]
    assert (end.ok, end.stopped) == (True, True)
    assert bridge.stop(job, "too late") == UNKNOWN
    assert bridge.stop("fit-none", "never there") == UNKNOWN


def test_a_stop_before_the_first_loss_is_honoured_after_it(
    bridge: Bridge, data: dict[str, DataFrame], tmp_path: Path
) -> None:
    rows, go = data["points"], tmp_path / "go"

    def held(partition: Any) -> Any:
        while not go.exists():
            time.sleep(0.02)
        return partition

    models: list[Any] = []
    session = rows.sparkSession
    waiting = session.createDataFrame(rows.rdd.mapPartitions(held), rows.schema)
    fit = classification.LogisticRegression(maxIter=MANY, tol=0.0)
    thread = threading.Thread(target=lambda: models.append(fit.fit(waiting)))
    thread.start()
    begun = eventually(lambda: [e for e in bridge.poll().events if isinstance(e, Begin) and e.uid == fit.uid])[-1]
    assert bridge.stop(begun.job, "a test wants it") == ASKED
    go.touch()
    thread.join(60)
    losses = [event for event in bridge.poll().events if isinstance(event, Loss) and event.job == begun.job]
    assert [event.iteration for event in losses] == [0, 1]
    assert numbers(models[0]) == numbers(classification.LogisticRegression(maxIter=1, tol=0.0).fit(rows))


def one_of_each() -> dict[str, tuple[str, Callable[[int], Any]]]:
    """One estimator for each loop."""
    names = ("logistic", "mlp-gd", "kmeans-row", "kmeans-block", "gaussian-mixture", "glr", "gbt-classifier", "lda-em",
             "als-implicit")  # fmt: skip
    return {name: ESTIMATORS[name] for name in names}


PLAIN = """
import json, sys
from pyspark.sql import SparkSession
from tests.spark import test_stop
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
spark = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
data = test_stop.one_partition(spark)
estimators = test_stop.one_of_each().items()
models = {name: str(test_stop.numbers(make(3).fit(data[kind]))) for name, (kind, make) in estimators}
json.dump(models, open(sys.argv[1], "w"))
spark.stop()
"""


def test_with_nothing_asked_models_are_those_of_a_jvm_without_the_agent(
    spark: SparkSession, data: dict[str, DataFrame], run_driver: Callable[..., Any], tmp_path: Path
) -> None:
    applied = health(spark)["applied"]
    assert sum(hook.startswith("stop ") for hook in applied) == 13
    run_driver(PLAIN, str(tmp_path / "plain.json"))
    plain = json.loads((tmp_path / "plain.json").read_text())
    hooked = {name: str(numbers(make(3).fit(data[kind]))) for name, (kind, make) in one_of_each().items()}
    assert hooked == plain

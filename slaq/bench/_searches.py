"""The searches that `slaq bench search` runs: grids of equal and of unequal candidates, and a fit of somebody else."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from slaq.workload.algorithms import DATA_SEED, PARTITIONS
from slaq.workload.data import Rows, classes, clusters, curved, frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Size(NamedTuple):
    """How large a search is."""

    rows: int
    iterations: int
    """Of the longest candidates."""


class Part(NamedTuple):
    """One search of one estimator, or of several in a pipeline."""

    name: str
    estimator: Any
    grid: list[dict[Any, Any]]
    evaluator: Any
    rows: "DataFrame"


def equal(spark: "SparkSession", size: Size) -> list[Part]:
    """Twelve candidates that take equally long: one LogisticRegression with other penalties."""
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.tuning import ParamGridBuilder

    estimator = LogisticRegression(maxIter=size.iterations, tol=0.0, standardization=False)
    grid = ParamGridBuilder().addGrid(estimator.regParam, [0.0, 0.0003, 0.003, 0.03])
    grid.addGrid(estimator.elasticNetParam, [0.0, 0.5, 1.0])
    rows = _cached(spark, classes(60, 5, decay=0.05), size.rows)
    return [Part("logistic", estimator, grid.build(), _log_loss(), rows)]


def unequal(spark: "SparkSession", size: Size) -> list[Part]:
    """Three searches one after the other; in each a candidate takes up to ten times as long as another."""
    return [_classifiers(spark, size), _factors(spark, size), _clusters(spark, size)]


def _classifiers(spark: "SparkSession", size: Size) -> Part:
    """Linear models and boosted trees in one grid: the candidates differ in maxIter, depth and regParam."""
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import GBTClassifier, LogisticRegression

    linear = LogisticRegression(tol=0.0, standardization=False)
    trees = GBTClassifier(seed=1, stepSize=0.3)
    pipeline = Pipeline(stages=[linear])
    grid: list[dict[Any, Any]] = [
        {pipeline.stages: [linear], linear.maxIter: iterations, linear.regParam: penalty}
        for iterations in (size.iterations // 4, size.iterations)
        for penalty in (0.0, 0.01)
    ]
    grid += [
        {pipeline.stages: [trees], trees.maxIter: iterations, trees.maxDepth: depth}
        for iterations in (max(size.iterations // 10, 1), max(size.iterations // 4, 1))
        for depth in (2, 5)
    ]
    return Part("linear and trees", pipeline, grid, _log_loss(), _cached(spark, curved(20, binary=True), size.rows))


def _factors(spark: "SparkSession", size: Size) -> Part:
    """Factorisations of ratings: the candidates differ in rank, regParam and maxIter."""
    from pyspark.ml.evaluation import RegressionEvaluator
    from pyspark.ml.recommendation import ALS
    from pyspark.ml.tuning import ParamGridBuilder
    from pyspark.sql import functions as sf

    estimator = ALS(seed=1, numUserBlocks=PARTITIONS, numItemBlocks=PARTITIONS, coldStartStrategy="drop")
    grid = ParamGridBuilder().addGrid(estimator.rank, [4, 16]).addGrid(estimator.regParam, [0.02, 0.2])
    grid.addGrid(estimator.maxIter, [max(size.iterations // 8, 1), max(size.iterations // 3, 1)])
    user, item = (sf.col("id") * 7919) % 601, (sf.col("id") * 104729) % 211
    taste = sf.sin(user * 0.37) * sf.cos(item * 0.11) + sf.sin(user * 0.05) * sf.sin(item * 0.23)
    drawn = spark.range(2 * size.rows, numPartitions=PARTITIONS).select(
        user.cast("int").alias("user"), item.cast("int").alias("item"), (3 + taste + 0.3 * sf.randn(1)).alias("rating")
    )
    drawn = drawn.cache()
    drawn.count()
    judge = RegressionEvaluator(metricName="rmse", labelCol="rating")
    return Part("factors", estimator, grid.build(), judge, drawn)


def _clusters(spark: "SparkSession", size: Size) -> Part:
    """Clusterings: the candidates differ in k and maxIter."""
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.evaluation import ClusteringEvaluator
    from pyspark.ml.tuning import ParamGridBuilder

    estimator = KMeans(tol=0.0, seed=1, initMode="random")
    grid = ParamGridBuilder().addGrid(estimator.k, [5, 20, 40])
    grid.addGrid(estimator.maxIter, [max(size.iterations // 8, 1), size.iterations])
    rows = _cached(spark, clusters(30, 20), size.rows)
    return Part("clusters", estimator, grid.build(), ClusteringEvaluator(), rows)


class Neighbour(NamedTuple):
    """Another user's fit."""

    uid: str
    train: Callable[[], object]


def neighbour(spark: "SparkSession", size: Size) -> Neighbour:
    """Prepare another user's fit."""
    from pyspark.ml.classification import LogisticRegression

    rows = _cached(spark, classes(60, 5, decay=0.05), size.rows)
    estimator = LogisticRegression(maxIter=size.iterations, tol=0.0, standardization=False)
    return Neighbour(estimator.uid, lambda: estimator.fit(rows))


def _log_loss() -> Any:
    from pyspark.ml.evaluation import MulticlassClassificationEvaluator

    log_loss: Any = "logLoss"  # pyspark's hints lack it
    return MulticlassClassificationEvaluator(metricName=log_loss)


def _cached(spark: "SparkSession", drawn: Rows, rows: int) -> "DataFrame":
    made = frame(spark, drawn, rows, DATA_SEED, PARTITIONS).cache()
    made.count()
    return made

"""The nine algorithms of the paper's workload (SLAQ, table 1), each as a small training run on real MLlib.

Sizes are chosen so that an iteration costs 0.15 to 0.5 core-seconds, in tasks of 20 to 120 milliseconds: on two cores
it takes 0.1 to 0.3 s, and no algorithm is most of a stream's work.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slaq.errors import SlaqError
from slaq.workload import data, kernel_svm

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PARTITIONS = 4
"""Of every data set: twice the cores of a small machine, so that a share of them can be held."""

DATA_SEED = 1
"""All jobs of an algorithm train on the same data."""

FEWEST_ROWS = 200

Report = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Algorithm:
    """How to make the data of one algorithm and how to build its estimator; `custom` trains by itself instead."""

    name: str
    generate: data.Rows
    rows: int
    iterations: int
    estimator: Callable[[int, int], Any] | None = None
    """estimator(iterations, seed), an `ml` estimator."""
    custom: "Callable[[DataFrame, int, Report], list[float]] | None" = None
    """custom(frame, iterations, report): the model as numbers, for an optimizer that reports by itself."""
    shape: "Callable[[Any, DataFrame], None] | None" = None
    """shape(estimator, frame): fit the estimator to the data's width, where it has to know it."""


def fit_layers(estimator: Any, frame: "DataFrame") -> None:
    """A network's first layer is as wide as the data, its last has a node for every class."""
    first = frame.select("features").first()
    kinds = frame.agg({"label": "max"}).first()
    assert first is not None
    assert kinds is not None
    estimator.setLayers([first[0].size, 24, int(kinds[0]) + 1])


def kmeans(iterations: int, seed: int) -> Any:
    """Lloyd's algorithm from random centres."""
    from pyspark.ml.clustering import KMeans

    return KMeans(k=20, maxIter=iterations, tol=0.0, seed=seed, initMode="random")


def logistic(iterations: int, seed: int) -> Any:  # noqa: ARG001 (deterministic)
    """Multinomial logistic regression by L-BFGS."""
    from pyspark.ml.classification import LogisticRegression

    return LogisticRegression(maxIter=iterations, tol=0.0, regParam=1e-5, standardization=False, family="multinomial")


def linear_svm(iterations: int, seed: int) -> Any:  # noqa: ARG001
    """A linear support vector machine by OWL-QN."""
    from pyspark.ml.classification import LinearSVC

    return LinearSVC(maxIter=iterations, tol=0.0, regParam=1e-5, standardization=False)


def boosted_classes(iterations: int, seed: int) -> Any:
    """Boosted trees for two classes; an iteration is a tree."""
    from pyspark.ml.classification import GBTClassifier

    return GBTClassifier(maxIter=iterations, maxDepth=4, maxBins=32, stepSize=0.3, seed=seed)


def boosted_regression(iterations: int, seed: int) -> Any:
    """Boosted regression trees."""
    from pyspark.ml.regression import GBTRegressor

    return GBTRegressor(maxIter=iterations, maxDepth=4, maxBins=32, stepSize=0.3, seed=seed)


def perceptron(iterations: int, seed: int) -> Any:
    """A network with one hidden layer by L-BFGS."""
    from pyspark.ml.classification import MultilayerPerceptronClassifier

    return MultilayerPerceptronClassifier(maxIter=iterations, tol=0.0, seed=seed, blockSize=256)


def topics(iterations: int, seed: int) -> Any:
    """Latent Dirichlet allocation, online variational, over all documents in every iteration."""
    from pyspark.ml.clustering import LDA

    return LDA(k=8, maxIter=iterations, seed=seed, optimizer="online", subsamplingRate=1.0, learningOffset=2.0)


def linear_regression(iterations: int, seed: int) -> Any:  # noqa: ARG001
    """Least squares by L-BFGS."""
    from pyspark.ml.regression import LinearRegression

    return LinearRegression(maxIter=iterations, tol=0.0, regParam=0.0, standardization=False, solver="l-bfgs")


def polynomial_svm(frame: "DataFrame", iterations: int, report: Report) -> list[float]:
    """A support vector machine with a polynomial kernel: the optimizer that reports with one line."""
    weights = kernel_svm.train(frame, landmarks=120, degree=3, iterations=iterations, ridge=1e-4, report=report)
    return [float(weight) for weight in weights]


ALGORITHMS = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm("KMeans", data.clusters(40, 30), 60_000, 30, kmeans),
        Algorithm("LogReg", data.classes(100, 8, decay=0.02), 100_000, 60, logistic),
        Algorithm("SVM", data.classes(100, 2, decay=0.02), 200_000, 60, linear_svm),
        Algorithm("SVMPoly", data.curved(16, binary=True), 72_000, 60, custom=polynomial_svm),
        Algorithm("GBT", data.curved(20, binary=True), 20_000, 20, boosted_classes),
        Algorithm("GBTReg", data.curved(20, binary=False), 20_000, 20, boosted_regression),
        Algorithm("MLPC", data.curved(40, binary=True), 64_000, 60, perceptron, shape=fit_layers),
        Algorithm("LDA", data.documents(200, 8), 1_000, 30, topics),
        Algorithm("LinReg", data.regression(100, decay=0.02), 200_000, 60, linear_regression),
    )
}


def algorithm(name: str) -> Algorithm:
    """The algorithm of that name, one of the paper's table 1."""
    if name not in ALGORITHMS:
        raise SlaqError(f"unknown algorithm {name!r}; choose one of {', '.join(ALGORITHMS)}")
    return ALGORITHMS[name]


def generated(spark: "SparkSession", name: str, size: float) -> "DataFrame":
    """The data of an algorithm, `size` times as many rows as usual."""
    chosen = algorithm(name)
    rows = max(int(chosen.rows * size), FEWEST_ROWS)
    return data.frame(spark, chosen.generate, rows, DATA_SEED, PARTITIONS)

"""The searches that `slaq bench race` runs: data, estimators with their grids, and the judgement on held-out rows."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from slaq.workload.data import Rows, classes, curved, frame, regression

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PARTITIONS = 4
REGULARISATION = {"regParam": (0.0, 0.0003, 0.003, 0.03), "elasticNetParam": (0.0, 0.5, 1.0)}


class Searched(NamedTuple):
    """One kind of search."""

    classifies: bool
    rows: Rows
    """Its data, unless it is given some."""
    grid: Callable[[int, int, int], tuple[Any, dict[str, tuple[Any, ...]]]]
    """(iterations, features, classes) to an estimator and the values of its parameters."""


def _logistic(iterations: int, _features: int, _kinds: int) -> tuple[Any, dict[str, tuple[Any, ...]]]:
    from pyspark.ml.classification import LogisticRegression

    return LogisticRegression(maxIter=iterations), REGULARISATION


def _linear(iterations: int, _features: int, _kinds: int) -> tuple[Any, dict[str, tuple[Any, ...]]]:
    from pyspark.ml.regression import LinearRegression

    return LinearRegression(maxIter=iterations, solver="l-bfgs"), REGULARISATION


def _network(iterations: int, features: int, kinds: int) -> tuple[Any, dict[str, tuple[Any, ...]]]:
    from pyspark.ml.classification import MultilayerPerceptronClassifier

    layers = tuple([features, hidden, kinds] for hidden in (3, 6, 12, 24))
    return MultilayerPerceptronClassifier(maxIter=iterations), {"layers": layers, "seed": (1, 2, 3)}


def _trees(iterations: int, _features: int, _kinds: int) -> tuple[Any, dict[str, tuple[Any, ...]]]:
    from pyspark.ml.regression import GBTRegressor

    return GBTRegressor(maxIter=iterations, seed=1), {"maxDepth": (2, 4), "stepSize": (0.03, 0.1, 0.3)}


SEARCHES = {
    "logistic": Searched(True, classes(60, 5, decay=0.05), _logistic),
    "linear": Searched(False, regression(60, decay=0.05), _linear),
    "network": Searched(True, curved(8, binary=True), _network),
    "trees": Searched(False, curved(8, binary=False), _trees),
}


def data(spark: "SparkSession", kind: str, path: str | None, label: str, rows: int, seed: int) -> "DataFrame":
    """Features and label: drawn with the seed, or this many rows of a file."""
    if path is None:
        return frame(spark, SEARCHES[kind].rows, rows, seed, PARTITIONS).select("features", "label")
    read = _read(spark, path, label, SEARCHES[kind].classifies)
    return read.sample(min(1.0, rows / read.count()), seed).repartition(PARTITIONS)


def _read(spark: "SparkSession", path: str, label: str, classifies: bool) -> "DataFrame":
    from pyspark.ml.feature import StandardScaler, VectorAssembler
    from pyspark.sql.functions import col
    from pyspark.sql.types import NumericType

    if ".libsvm" in path:
        found = spark.read.format("libsvm").load(path)
        lowest = found.agg({"label": "min"}).head()
        signs = classifies and lowest is not None and lowest[0] < 0
        return found.withColumn("label", (col("label") > 0).cast("double")) if signs else found
    table = spark.read.parquet(path)
    if label not in table.columns:
        raise click.BadParameter(f"{path} has no column {label!r}, only {', '.join(table.columns)}; give --label")
    numbers = [field.name for field in table.schema.fields if isinstance(field.dataType, NumericType)]
    inputs = [name for name in numbers if name != label]
    gathered = VectorAssembler(inputCols=inputs, outputCol="raw", handleInvalid="skip").transform(table)
    scaled = StandardScaler(inputCol="raw", outputCol="features", withMean=True).fit(gathered).transform(gathered)
    return scaled.select("features", col(label).cast("double").alias("label"))


def held_out(model: Any, rows: "DataFrame", classifies: bool) -> tuple[float, float]:
    """The mean loss of a model on rows that the search has not seen, and its standard error."""
    from pyspark.ml.functions import vector_to_array
    from pyspark.sql import functions as sf

    if classifies:
        chance = sf.element_at(vector_to_array(sf.col("probability")), sf.col("label").cast("int") + 1)
        loss = -sf.log(sf.greatest(chance, sf.lit(1e-15)))
    else:
        loss = (sf.col("prediction") - sf.col("label")) ** 2
    found = model.transform(rows).select(loss.alias("loss")).agg(sf.mean("loss"), sf.stddev("loss"), sf.count("loss"))
    mean, deviation, count = found.head()
    return float(mean), float(deviation) / float(count) ** 0.5

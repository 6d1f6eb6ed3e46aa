"""Training data made on the spot: the same rows for the same seed, on any machine.

Features fall off in size from the first to the last. That makes the problems badly conditioned, as real ones are:
optimizers win most of the loss in their first iterations and spend the others on the rest.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Floats = NDArray[np.float64]
Rows = Callable[[Generator, int], tuple[Floats, Floats]]
"""rows(random, count): features and labels; unsupervised training ignores the labels."""


def frame(spark: "SparkSession", rows: Rows, count: int, seed: int, partitions: int) -> "DataFrame":
    """`count` rows of `id`, `features`, `label`; every partition draws from a stream of its own."""
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql.functions import col
    from pyspark.sql.types import ArrayType, DoubleType, LongType, StructField, StructType

    schema = StructType(
        [
            StructField("id", LongType(), False),
            StructField("values", ArrayType(DoubleType(), False), False),
            StructField("label", DoubleType(), False),
        ]
    )
    share = -(-count // partitions)

    def made(partition: int, _: Iterable[int]) -> Iterator[tuple[int, list[float], float]]:
        features, labels = rows(default_rng([seed, partition]), share)
        numbers = range(partition * share, (partition + 1) * share)
        return zip(numbers, features.tolist(), labels.tolist(), strict=True)

    numbered = spark.sparkContext.parallelize(range(partitions), partitions).mapPartitionsWithIndex(made)
    made_frame = spark.createDataFrame(numbered, schema, verifySchema=False)
    return made_frame.select("id", array_to_vector(col("values")).alias("features"), "label")


def scaled_noise(random: Generator, count: int, features: int, decay: float) -> Floats:
    """Independent normal features whose spread falls from 1 to `decay`, evenly on a logarithmic scale."""
    return random.standard_normal((count, features)) * np.geomspace(1.0, decay, features)


def classes(features: int, kinds: int, decay: float) -> Rows:
    """Linearly separable up to noise: the class is the largest of noisy projections."""

    def rows(random: Generator, count: int) -> tuple[Floats, Floats]:
        x = scaled_noise(random, count, features, decay)
        weights = np.sin(1.0 + 1.7 * np.arange(features)[:, None] + 5.0 * np.arange(kinds))
        scores = x @ weights + 0.5 * random.standard_normal((count, kinds))
        return x, scores.argmax(axis=1).astype(np.float64)

    return rows


def regression(features: int, decay: float) -> Rows:
    """A linear target with noise."""

    def rows(random: Generator, count: int) -> tuple[Floats, Floats]:
        x = scaled_noise(random, count, features, decay)
        return x, x @ np.sin(1.0 + 1.7 * np.arange(features)) + 0.1 * random.standard_normal(count)

    return rows


def curved(features: int, binary: bool) -> Rows:
    """A target of products and waves, for models that bend: trees, networks, kernels."""

    def rows(random: Generator, count: int) -> tuple[Floats, Floats]:
        x = scaled_noise(random, count, features, decay=0.3)
        target = x[:, 0] * x[:, 1] + np.sin(3.0 * x[:, 2]) + 0.5 * x[:, 3] ** 2 - 0.5
        target += x @ np.sin(2.0 + 1.7 * np.arange(features)) / 4.0 + 0.2 * random.standard_normal(count)
        return x, (target > 0).astype(np.float64) if binary else target

    return rows


def clusters(features: int, centres: int) -> Rows:
    """Overlapping clouds; the label is the cloud."""

    def rows(random: Generator, count: int) -> tuple[Floats, Floats]:
        middle = np.sin(2.1 * np.arange(centres)[:, None] * (np.arange(features) + 1.3))
        cloud = random.integers(centres, size=count)
        return 1.2 * middle[cloud] + scaled_noise(random, count, features, decay=0.5), cloud.astype(np.float64)

    return rows


def documents(words: int, topics: int) -> Rows:
    """Word counts: every document mixes the topics in its own way, and a topic prefers some words to others."""

    def rows(random: Generator, count: int) -> tuple[Floats, Floats]:
        likes = (np.sin(1.3 * np.arange(1, topics + 1)[:, None] * np.arange(1, words + 1)) * 0.5 + 0.5) ** 6
        mixtures = random.dirichlet(np.full(topics, 0.3), size=count)
        return random.poisson(0.02 + 2.0 * mixtures @ likes).astype(np.float64), mixtures.argmax(axis=1).astype(float)

    return rows

"""Tiny seeded data for every kind of estimator, the same in every process."""

import random

from pyspark.ml.linalg import Vectors
from pyspark.sql import DataFrame, SparkSession


def points(spark: SparkSession) -> DataFrame:
    """Two overlapping clouds: a class `label`, a positive `target`, nothing censored."""
    chance = random.Random(7)
    rows = []
    for _ in range(80):
        label = float(chance.random() < 0.5)
        features = [chance.gauss(label, 1), chance.gauss(-label, 1), chance.gauss(0, 1)]
        rows.append((label, Vectors.dense(features), chance.random() + label + 0.5 + 0.1 * features[0] ** 2, 1.0))
    return spark.createDataFrame(rows, ["label", "features", "target", "censor"]).coalesce(2)


def ratings(spark: SparkSession) -> DataFrame:
    chance = random.Random(3)
    rows = [(u, i, float((u * i) % 5 + 1)) for u in range(12) for i in range(9) if chance.random() < 0.6]
    return spark.createDataFrame(rows, ["user", "item", "rating"]).coalesce(2)


def documents(spark: SparkSession) -> DataFrame:
    """Word counts of two clear topics."""
    chance = random.Random(5)
    rows = [
        (Vectors.dense([float(chance.randrange(1, 6)) if (word < 6) == bool(row % 2) else 0.0 for word in range(12)]),)
        for row in range(16)
    ]
    return spark.createDataFrame(rows, ["features"]).coalesce(2)


def sentences(spark: SparkSession) -> DataFrame:
    rows = [(["a", "b", "c", "d", "e", "f", "a", "b", "c"],)] * 15 + [
        (["x", "y", "z", "w", "v", "u", "x", "y", "z"],)
    ] * 15
    return spark.createDataFrame(rows, ["words"]).coalesce(2)


def similarities(spark: SparkSession) -> DataFrame:
    """Two cliques joined by one weak edge."""
    rows = [(i, j, 1.0) for i in range(5) for j in range(i)] + [(i, j, 1.0) for i in range(5, 10) for j in range(5, i)]
    return spark.createDataFrame([*rows, (0, 5, 0.1)], ["src", "dst", "weight"]).coalesce(2)

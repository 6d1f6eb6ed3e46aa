"""A driver that trains without the agent, attaches it, and trains the same again; prints both as JSON."""

import json
from collections.abc import Callable
from typing import Any

from pyspark.ml import classification, clustering, feature, recommendation, regression
from pyspark.sql import SparkSession

from slaq.spark.attach import attach_agent
from tests.spark import training_data
from tests.spark.probe_watch import health, watch

QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.sql.shuffle.partitions": "2"}


def fits(spark: SparkSession) -> dict[str, Callable[[], Any]]:
    """Estimators whose tasks or driver code the probe changes, each returning its model's numbers."""
    points = training_data.points(spark).cache()
    documents = training_data.documents(spark).cache()
    ratings = training_data.ratings(spark).cache()
    sentences = training_data.sentences(spark).cache()

    def als(implicit: bool) -> Any:
        blocks = {"numUserBlocks": 2, "numItemBlocks": 2}
        model = recommendation.ALS(rank=2, maxIter=2, seed=1, implicitPrefs=implicit, **blocks).fit(ratings)
        return sorted((row.id, list(row.features)) for row in model.userFactors.collect())

    return {
        "logistic": lambda: list(classification.LogisticRegression(maxIter=3).fit(points).coefficients),
        "glm": lambda: list(
            regression.GeneralizedLinearRegression(family="binomial", maxIter=3).fit(points).coefficients
        ),
        "gbt": lambda: classification.GBTClassifier(maxIter=3, maxDepth=2, seed=1).fit(points).toDebugString[100:],
        "als": lambda: als(False),
        "als implicit": lambda: als(True),
        "lda em": lambda: topics(clustering.LDA(k=2, maxIter=3, optimizer="em", seed=1).fit(documents)),
        "word2vec": lambda: [
            list(row.vector)
            for row in feature.Word2Vec(vectorSize=2, minCount=0, maxIter=2, seed=1, inputCol="words")
            .fit(sentences)
            .getVectors()
            .sort("word")
            .collect()
        ],
    }


def topics(model: clustering.LDAModel) -> list[list[float]]:
    return [list(row) for row in model.topicsMatrix().toArray()]


def main() -> None:
    builder = SparkSession.builder.master("local[2]")
    for key, value in QUIET.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    trainings = fits(spark)
    without = {name: train() for name, train in trainings.items()}
    attach_agent(spark)
    with_probe, curves = {}, {}
    for name, train in trainings.items():
        with watch(spark) as seen:
            with_probe[name] = train()
        curves[name] = seen.only().losses
    counters = health(spark)
    report = {"without": without, "with": with_probe, "curves": curves}
    print(json.dumps({**report, "missed": counters["missed"], "errors": counters["errors"]}))
    spark.stop()


main()

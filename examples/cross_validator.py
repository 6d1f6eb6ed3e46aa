"""A notebook or script with a running session: CrossValidator, four candidates at a time.

    python examples/cross_validator.py

`slaq.attach(spark)` is all: every candidate's fit becomes a job, and the embedded scheduler moves the cores to those
that still gain. The models are the ones that plain Spark finds.
"""

from pyspark.ml.classification import LogisticRegression
from pyspark.ml.evaluation import BinaryClassificationEvaluator
from pyspark.ml.functions import array_to_vector
from pyspark.ml.tuning import CrossValidator, CrossValidatorModel, ParamGridBuilder
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

import slaq


def training_data(spark: SparkSession) -> DataFrame:
    x = sf.array(*(sf.rand(seed) for seed in range(3)))
    noisy = sf.col("x")[0] + 0.5 * sf.col("x")[1] + 0.3 * sf.rand(9)
    rows = spark.range(0, 2_000, numPartitions=2).select(x.alias("x")).withColumn("label", (noisy > 0.9).cast("double"))
    return rows.select("label", array_to_vector("x").alias("features")).cache()


def tune(data: DataFrame, parallelism: int = 4) -> CrossValidatorModel:
    regression = LogisticRegression(maxIter=6)
    grid = ParamGridBuilder().addGrid(regression.regParam, [0.3, 0.1, 0.03, 0.01]).build()
    validator = CrossValidator(
        estimator=regression,
        estimatorParamMaps=grid,
        evaluator=BinaryClassificationEvaluator(),
        numFolds=2,
        parallelism=parallelism,
        seed=1,
    )
    return validator.fit(data)


if __name__ == "__main__":
    spark = SparkSession.builder.appName("cross validator").getOrCreate()
    print(slaq.attach(spark))
    best = tune(training_data(spark))
    for job in slaq.jobs():
        print(f"{job.name:40} {len(job.losses):3} losses, last {job.loss}")
    print("area under ROC of the candidates:", [round(metric, 4) for metric in best.avgMetrics])
    slaq.detach()
    spark.stop()

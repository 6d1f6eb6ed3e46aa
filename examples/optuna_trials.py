"""Optuna trials that are pruned by the losses of their MLlib fits, while these run.

    pip install 'slaq[optuna]'
    python examples/optuna_trials.py

The trials differ in how they train and not in what they minimise, so their training losses can be compared. A pruned
trial stops its fit after the iteration under way.
"""

import optuna
from pyspark.ml.classification import MultilayerPerceptronClassifier
from pyspark.ml.evaluation import MulticlassClassificationEvaluator
from pyspark.ml.functions import array_to_vector
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

import slaq
from slaq.tuning.optuna import watched


def training_data(spark: SparkSession) -> DataFrame:
    x = sf.array(*(sf.randn(seed) for seed in range(4)))
    rows = spark.range(0, 1_000, numPartitions=2).select(x.alias("x"))
    label = (sf.col("x")[0] * sf.col("x")[1] > 0).cast("double")
    return rows.select(label.alias("label"), array_to_vector("x").alias("features")).cache()


def main(spark: SparkSession, trials: int = 6, iterations: int = 100) -> optuna.Study:
    train, validation = training_data(spark).randomSplit([0.7, 0.3], seed=1)
    accuracy = MulticlassClassificationEvaluator(metricName="accuracy")

    def objective(trial: optuna.Trial) -> float:
        network = MultilayerPerceptronClassifier(
            layers=[4, trial.suggest_int("hidden", 2, 16), 2],
            solver="gd",
            stepSize=trial.suggest_float("stepSize", 1e-3, 1.0, log=True),
            maxIter=iterations,
            tol=0.0,
            seed=1,
        )
        with watched(trial):
            model = network.fit(train)
        return accuracy.evaluate(model.transform(validation))

    study = optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.RandomSampler(seed=1),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=2, n_warmup_steps=10),
    )
    study.optimize(objective, n_trials=trials)
    return study


if __name__ == "__main__":
    spark = SparkSession.builder.appName("trials").getOrCreate()
    slaq.attach(spark)
    for trial in main(spark).trials:
        print(trial.number, trial.state.name, len(trial.intermediate_values), "losses", trial.params)
    slaq.detach()
    spark.stop()

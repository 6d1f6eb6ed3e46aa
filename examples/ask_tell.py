"""Hyperparameter search by ask and tell, attached: with Optuna if it is installed, with a random search if not.

    python examples/ask_tell.py

Each trial runs in a thread of its own under its own name; SLAQ moves the cores of the one session between them.
"""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from pyspark import inheritable_thread_target
from pyspark.ml.functions import array_to_vector
from pyspark.ml.regression import LinearRegression
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

import slaq

TRIALS, THREADS = 6, 3


class RandomSearch:
    """The few methods of an Optuna study that are used here."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._asked = -1
        self.told: dict[int, tuple[float, float]] = {}

    def ask(self) -> tuple[int, float]:
        self._asked += 1
        return self._asked, 10.0 ** self._random.uniform(-4.0, 0.0)

    def tell(self, trial: int, regularisation: float, error: float) -> None:
        self.told[trial] = (regularisation, error)


class OptunaSearch:
    """The same with a real study."""

    def __init__(self, seed: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
        self.told: dict[int, tuple[float, float]] = {}

    def ask(self) -> tuple[int, float]:
        trial = self._study.ask()
        return trial.number, trial.suggest_float("regParam", 1e-4, 1.0, log=True)

    def tell(self, trial: int, regularisation: float, error: float) -> None:
        self._study.tell(trial, error)
        self.told[trial] = (regularisation, error)


def search(seed: int) -> RandomSearch | OptunaSearch:
    try:
        return OptunaSearch(seed)
    except ImportError:
        return RandomSearch(seed)


def training_data(spark: SparkSession) -> DataFrame:
    x = sf.array(*(sf.rand(seed) for seed in range(4)))
    rows = spark.range(0, 2_000, numPartitions=2).select(x.alias("x"))
    rows = rows.withColumn("label", 2.0 * sf.col("x")[0] - sf.col("x")[2] + 0.1 * sf.randn(5))
    return rows.select("label", array_to_vector("x").alias("features")).cache()


def trial_on(data: DataFrame) -> Callable[[int, float], float]:
    def trial(number: int, regularisation: float) -> float:
        with slaq.job(f"trial-{number}"):
            regression = LinearRegression(maxIter=8, regParam=regularisation, elasticNetParam=0.5, solver="l-bfgs")
            return float(regression.fit(data).summary.rootMeanSquaredError)

    return trial


def main(spark: SparkSession) -> dict[int, tuple[float, float]]:
    study = search(seed=3)
    run = inheritable_thread_target(spark)(trial_on(training_data(spark)))
    with ThreadPoolExecutor(THREADS) as pool:
        for _ in range(TRIALS // THREADS):
            asked = [study.ask() for _ in range(THREADS)]
            for (number, regularisation), error in zip(asked, pool.map(run, *zip(*asked, strict=True)), strict=True):
                study.tell(number, regularisation, error)
    return study.told


if __name__ == "__main__":
    spark = SparkSession.builder.appName("ask and tell").getOrCreate()
    slaq.attach(spark)
    for number, (regularisation, error) in sorted(main(spark).items()):
        print(f"trial {number}: regParam {regularisation:.5f}, error {error:.4f}")
    print("seen by SLAQ:", sorted(job.name for job in slaq.jobs() if job.losses))
    slaq.detach()
    spark.stop()

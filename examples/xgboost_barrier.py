"""A library that trains inside its tasks, attached: XGBoost, in a barrier stage whose loss the driver never sees.

    pip install xgboost-cpu pandas pyarrow scikit-learn
    python examples/xgboost_barrier.py

A callback in the first worker sends the loss of every round to the driver. There one thread runs the fit, and the
thread that has named the job reports.
"""

import secrets
from multiprocessing.connection import Client, Listener
from typing import Any

from pyspark import InheritableThread
from pyspark.ml.functions import array_to_vector
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from xgboost import collective
from xgboost.callback import TrainingCallback
from xgboost.spark import SparkXGBClassifier

import slaq

ROUNDS = 20


class SendLoss(TrainingCallback):  # type: ignore[misc, unused-ignore]
    """Runs in the tasks: one short connection per round, to an address that every executor can reach."""

    def __init__(self, address: Any, key: bytes) -> None:
        self.address, self.key = address, key

    def send(self, message: tuple[int, float] | None) -> None:
        with Client(self.address, authkey=self.key) as driver:
            driver.send(message)

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:  # noqa: ARG002
        if collective.get_rank() == 0:
            losses = next(iter(next(iter(evals_log.values())).values()))
            self.send((epoch, float(losses[-1])))
        return False


def train(data: DataFrame, host: str) -> None:
    """Fit, and report what the callback sends until the fit is over."""
    key = secrets.token_bytes(32)
    with Listener((host, 0), authkey=key) as listener:
        callback = SendLoss(listener.address, key)

        def fit() -> None:
            try:
                SparkXGBClassifier(num_workers=2, n_estimators=ROUNDS, max_depth=3, callbacks=[callback]).fit(data)
            finally:
                callback.send(None)

        fitting = InheritableThread(target=fit)
        fitting.start()
        while True:
            with listener.accept() as sender:
                message = sender.recv()
            if message is None:
                break
            iteration, loss = message
            slaq.report(loss, iteration)
        fitting.join()


def main() -> None:
    spark = SparkSession.builder.appName("xgboost").getOrCreate()
    slaq.attach(spark)
    numbers = spark.range(4000).select(*(sf.rand(seed).alias(f"x{seed}") for seed in range(3)))
    labelled = numbers.withColumn("label", sf.expr("double(x0 + x1 * x2 > 0.75)"))
    data = labelled.select("label", array_to_vector(sf.array("x0", "x1", "x2")).alias("features")).cache()
    with slaq.job("boosting", max_iterations=ROUNDS):
        train(data, spark.conf.get("spark.driver.host") or "127.0.0.1")
    (status,) = (job for job in slaq.jobs() if job.name == "boosting")
    print(f"{len(status.losses)} rounds, loss {status.losses[0]:.3f} to {status.losses[-1]:.3f}")
    spark.stop()


if __name__ == "__main__":
    main()

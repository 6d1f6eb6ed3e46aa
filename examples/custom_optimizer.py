"""A training loop of one's own that reports its loss: an SVM with a polynomial kernel, in numpy over an RDD.

    slaq submit --master 'local[2]' examples/custom_optimizer.py
    python examples/custom_optimizer.py        # the same through slaq.attach

The one line for SLAQ is `slaq.report(loss)`; `slaq.job` gives the run a name and a weight, `slaq.should_stop` ends
it early if its user asked for that. Without Spark or SLAQ around them the three lines do nothing.
"""

import numpy as np
from pyspark.sql import SparkSession

import slaq

DEGREE, REGULARISATION, STEPS = 2, 1e-3, 20


def polynomial(x: np.ndarray) -> np.ndarray:
    """The features of the polynomial kernel of degree 2, written out: all products of two coordinates and 1."""
    extended = np.hstack([x, np.ones((len(x), 1))])
    return np.einsum("ni,nj->nij", extended, extended).reshape(len(x), -1)


def block(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points in a square, labelled by a circle: no line separates them, a quadratic does."""
    x = np.random.default_rng(seed).uniform(-1.0, 1.0, (2_000, 2))
    return polynomial(x), np.where((x**2).sum(axis=1) < 0.5, 1.0, -1.0)


def hinge(points: tuple[np.ndarray, np.ndarray], w: np.ndarray) -> np.ndarray:
    """Sum of the hinge losses of one block, its subgradient, and the number of points, in one array."""
    x, y = points
    margin = 1.0 - y * (x @ w)
    active = margin > 0.0
    return np.concatenate([[margin[active].sum(), len(y)], -(y[active] @ x[active])])


def train(spark: SparkSession) -> np.ndarray:
    data = spark.sparkContext.parallelize(range(4), 4).map(block).cache()
    w = np.zeros((DEGREE + 1) ** 2)
    with slaq.job("svm-polynomial", weight=2.0, target_loss=0.3, max_iterations=STEPS):
        for step in range(1, STEPS + 1):
            total, count, *gradient = data.map(lambda points, w=w: hinge(points, w)).sum()
            loss = total / count + REGULARISATION * (w @ w)
            slaq.report(loss)
            if slaq.should_stop():
                break
            w = w - 4.0 / np.sqrt(step) * (np.array(gradient) / count + 2.0 * REGULARISATION * w)
    return w


if __name__ == "__main__":
    spark = SparkSession.builder.appName("custom optimizer").getOrCreate()
    slaq.attach(spark)
    weights = train(spark)
    run = next(job for job in slaq.jobs() if job.name == "svm-polynomial")
    print(f"{len(run.losses)} iterations, loss {run.losses[0]:.4f} -> {run.losses[-1]:.4f}")
    spark.stop()

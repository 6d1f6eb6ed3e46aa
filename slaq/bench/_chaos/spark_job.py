"""A Spark application that fits models one after the other: `spark_job.py OUT FITS`, a program for spark-submit.

Every fit adds a line of JSON to OUT: its model, and the losses that Spark itself tells. A program that is started again
goes on after the last fit in OUT, as after a crash of its driver.
"""

import json
import sys
import time
from pathlib import Path

from pyspark.ml.classification import LogisticRegression
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

ROWS, FEATURES, PARTITIONS, ITERATIONS = 20_000, 12, 2, 40


def main(out: Path, fits: int) -> None:
    """Fit what is not fitted yet."""
    spark = SparkSession.builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    columns = [((f.hash(f.col("id"), f.lit(n)) % 1000) / 1000.0).alias(f"x{n}") for n in range(FEATURES)]
    table = spark.range(0, ROWS, 1, PARTITIONS).select(*columns)
    weights = sum((f.col(f"x{n}") * (n + 1) for n in range(FEATURES)), f.lit(0.0))
    noise = (f.hash(f.col("x0"), f.lit("noise")) % 1000) / 500.0
    array = f.array(*[f.col(f"x{n}") for n in range(FEATURES)])
    from pyspark.ml.functions import array_to_vector

    data = table.select(array_to_vector(array).alias("features"), ((weights + noise) > 0).cast("double").alias("label"))
    data.cache().count()
    done = len(out.read_text().splitlines()) if out.exists() else 0
    for number in range(done, fits):
        began_s = time.monotonic()
        estimator = LogisticRegression(maxIter=ITERATIONS, tol=0.0, regParam=0.001 * (number + 1))
        model = estimator.fit(data)
        told = {
            "fit": number,
            "uid": estimator.uid,
            "began_s": began_s,
            "ended_s": time.monotonic(),
            "model": [float(model.intercept), *map(float, model.coefficients)],
            "losses": list(model.summary.objectiveHistory),
        }
        with out.open("a") as file:
            file.write(json.dumps(told) + "\n")
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))

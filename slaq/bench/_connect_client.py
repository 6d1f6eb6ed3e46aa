"""An unmodified Spark Connect client: `_connect_client.py ADDRESS NAME FITS ITERATIONS ROWS once|always`.

It makes its data, says "ready", waits for a line, and runs so many fits at once: each once, or again and again until it
is ended. When the fits that it runs once are over it says so.
"""

import sys
import threading

from pyspark.ml.classification import LogisticRegression
from pyspark.ml.feature import VectorAssembler
from pyspark.sql import DataFrame, SparkSession

FEATURES, PARTITIONS = 20, 8


def data(spark: SparkSession, rows: int) -> DataFrame:
    """Features of falling size, so that the last part of the fit takes most iterations, and a noisy label; cached."""
    columns = [f"randn({number}) * {0.75**number} AS x{number}" for number in range(FEATURES)]
    made = spark.range(0, rows, 1, PARTITIONS).selectExpr(*columns)
    signal = " + ".join(f"x{number}" for number in range(FEATURES))
    labelled = made.selectExpr("*", f"cast({signal} + randn(99) > 0 AS double) AS label")
    names = [f"x{number}" for number in range(FEATURES)]
    ready = VectorAssembler(inputCols=names, outputCol="features").transform(labelled).select("features", "label")
    ready.cache().count()
    return ready


def main(address: str, name: str, fits: int, iterations: int, rows: int, always: bool) -> None:
    """See the top of this file."""
    spark = SparkSession.builder.remote(address).getOrCreate()
    spark.conf.set("spark.slaq.name", name)
    frame = data(spark, rows)

    def fit() -> None:
        LogisticRegression(maxIter=iterations, tol=0.0, regParam=1e-6, standardization=False).fit(frame)
        while always:
            LogisticRegression(maxIter=iterations, tol=0.0, regParam=1e-6, standardization=False).fit(frame)

    print("ready", flush=True)
    sys.stdin.readline()
    threads = [threading.Thread(target=fit, daemon=True) for _ in range(fits)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("over", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), sys.argv[6] == "always")

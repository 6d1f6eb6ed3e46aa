"""An application that knows nothing of SLAQ: plain MLlib, submitted with `slaq submit`.

slaq submit --master 'local[2]' examples/unmodified_mllib.py
"""

from pyspark.ml.classification import LogisticRegression
from pyspark.ml.functions import array_to_vector
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

if __name__ == "__main__":
    spark = SparkSession.builder.appName("unmodified MLlib").getOrCreate()
    columns = [sf.rand(seed) for seed in range(5)]
    data = (
        spark.range(0, 20_000, numPartitions=4)
        .select(array_to_vector(sf.array(*columns)).alias("features"))
        .withColumn("label", (sf.rand(7) < 0.5).cast("double"))
        .cache()
    )
    model = LogisticRegression(maxIter=20, regParam=0.01).fit(data)
    print("objective", model.summary.objectiveHistory)
    spark.stop()

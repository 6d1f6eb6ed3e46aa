"""An unmodified Spark Connect client: `connect_client.py ADDRESS NAME` runs a query and one fit."""

import sys

from pyspark.ml.clustering import KMeans
from pyspark.ml.feature import VectorAssembler
from pyspark.sql import SparkSession

address, name = sys.argv[1:]
spark = SparkSession.builder.remote(address).getOrCreate()
spark.conf.set("spark.slaq.name", name)
points = spark.range(0, 4000, 1, 2).selectExpr("rand(1) AS x", "rand(2) AS y")
print(points.selectExpr("sum(x)").collect()[0][0] > 0.0)
data = VectorAssembler(inputCols=["x", "y"], outputCol="features").transform(points)
print(len(KMeans(k=3, maxIter=8, tol=0.0, seed=1).fit(data).clusterCenters()))
spark.stop()

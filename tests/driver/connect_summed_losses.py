"""A Spark Connect client that trains what sums its losses inside tasks, and uses each model afterwards."""

import sys

from pyspark.ml.classification import GBTClassifier
from pyspark.ml.clustering import LDA
from pyspark.ml.feature import VectorAssembler, Word2Vec
from pyspark.ml.recommendation import ALS
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
rows = spark.range(0, 60, 1, 2)
ratings = rows.selectExpr("cast(id % 12 as int) user", "cast(id % 7 as int) item", "cast(id % 5 as float) rating")
print(ALS(rank=2, maxIter=2, seed=1, numUserBlocks=1, numItemBlocks=1).fit(ratings).transform(ratings).count())
points = VectorAssembler(inputCols=["x", "y"], outputCol="features").transform(
    rows.selectExpr("cast(id % 5 as double) x", "cast(id % 3 as double) y", "cast(id % 2 as double) label")
)
print(GBTClassifier(maxIter=2, maxDepth=2, seed=1).fit(points).transform(points).count())
print(LDA(k=2, maxIter=2, seed=1, optimizer="em").fit(points).describeTopics().count())
words = rows.selectExpr("array('a', 'b', 'c', 'd', 'e', concat('f', id % 3)) words")
word2vec = Word2Vec(vectorSize=3, minCount=1, maxIter=2, seed=1, inputCol="words", outputCol="vector")
print(word2vec.fit(words).transform(words).count())
spark.stop()

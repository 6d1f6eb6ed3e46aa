"""A driver that trains ALS on a cluster, loses its executors and uses the model on new ones; prints that as JSON.

Argument `plugin`: agent and plugin from the start; `late`: the agent attached to a driver that runs already.
"""

import json
import sys

from pyspark.ml.recommendation import ALS
from pyspark.sql import SparkSession

from slaq.bench._tasks import wait_until
from slaq.spark.attach import attach_agent
from slaq.spark.jar import launch_conf
from tests.spark import training_data
from tests.spark.probe_watch import health, watch

CLUSTER = {
    "spark.master": "local-cluster[2,1,700]",
    "spark.executor.memory": "512m",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    # Nobody but this test is to take the losses.
    "spark.slaq.python": "true",
    # As Scala programs have it: the tasks of a session's queries get the jars of that session alone.
    "spark.sql.artifact.isolation.enabled": "true",
}


def executors(spark: SparkSession) -> set[str]:
    ids = spark._jsc.sc().getExecutorIds()
    return {ids.apply(place) for place in range(ids.size())}


def replace_executors(spark: SparkSession) -> None:
    """The new ones have run no task, hence got nothing that comes with tasks."""
    old = executors(spark)
    for executor in old:
        spark._jsc.sc().killAndReplaceExecutor(executor)
    wait_until(lambda: len(executors(spark) - old) == 2, 60)


def main(late: bool) -> None:
    builder = SparkSession.builder
    for key, value in {**CLUSTER, **({} if late else launch_conf())}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    ratings = training_data.ratings(spark)
    ratings.count()
    if late:
        attach_agent(spark)
    with watch(spark) as seen:
        model = ALS(rank=2, maxIter=2, seed=1, numUserBlocks=1, numItemBlocks=1).fit(ratings)
    replace_executors(spark)
    factors, predictions = model.userFactors.collect(), model.transform(ratings).collect()
    used = {"factors": len(factors), "predictions": len(predictions)}
    print(json.dumps({"losses": seen.only().losses, "errors": health(spark)["errors"], **used}))
    spark.stop()


main(late=sys.argv[1] == "late")

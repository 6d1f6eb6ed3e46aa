"""An application of many short tasks that sleep; when they held a core stands in Spark's own event log.

Arguments: a folder and seconds. It says `ready` in the folder when its executors are there, and then works so long.
"""

import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

TASKS, TASK_S = 8, 0.1


def main(folder: Path, seconds: float) -> None:
    settings = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": folder.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.ui.enabled": "false",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    spark = SparkSession.builder.appName("sleeping").config(map=settings).getOrCreate()
    naps = spark.sparkContext.parallelize(range(TASKS), TASKS).map(lambda _: time.sleep(TASK_S))
    naps.count()  # executors and their Python workers are up from here on
    (folder / "ready").touch()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        naps.count()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))

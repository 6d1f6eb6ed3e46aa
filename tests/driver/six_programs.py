"""Runs programs one after the other in one driver; each starts and stops a Spark context of its own."""

import random
import runpy
import sys

from pyspark import SparkContext

for path in sys.argv[1:]:
    random.seed(0)
    print("program", path, flush=True)
    sys.argv = [path]
    runpy.run_path(path, run_name="__main__")
    if SparkContext._active_spark_context is not None:
        SparkContext._active_spark_context.stop()  # two of the programs leave that to the end of their process

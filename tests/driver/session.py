"""The Spark session of these tests, and the example programs as modules."""

import importlib.util
from pathlib import Path
from types import ModuleType

from pyspark.sql import SparkSession

from slaq.spark.jar import launch_conf

EXAMPLES = Path(__file__).parents[2] / "examples"

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    # The plugin stays away: `slaq.attach` installs the bridge, as in a notebook.
    "spark.slaq.enabled": "false",
}


def start() -> SparkSession:
    """`local[2]`, with the agent in the JVM from its start: other tests of this process share that JVM."""
    builder = SparkSession.builder.master("local[2]").appName("slaq-tests")
    for key, value in {**launch_conf(), **SETTINGS}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def example(name: str) -> ModuleType:
    """One of the example programs, imported."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

"""The Spark distribution inside the installed pyspark, and the environment of its daemons."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

from slaq.errors import SlaqError


def spark_home() -> Path:
    """The folder of the installed pyspark, which is a whole Spark distribution."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise SlaqError("pyspark is not installed; run: pip install pyspark")
    return Path(spec.origin).parent


def java() -> str:
    """The Java that Spark uses."""
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if found is None or not os.access(found, os.X_OK):
        raise SlaqError(f"no Java at {found or 'PATH'}; install a JDK 17 or newer, or set JAVA_HOME")
    return found


def environment() -> dict[str, str]:
    """The environment of daemons: without the caller's SLAQ and Spark settings, with what Spark's scripts set."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("SLAQ_", "SPARK_"))}
    core = next(spark_home().glob("jars/spark-core_*.jar"))
    return inherited | {
        "SPARK_HOME": str(spark_home()),
        "SPARK_LOCAL_IP": "127.0.0.1",
        # Workers start executors through the launcher, which looks for a source tree unless the version is set.
        "SPARK_SCALA_VERSION": core.name.removeprefix("spark-core_").partition("-")[0],
        # Executors start `python3`: this makes it the one with pyspark.
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{inherited.get('PATH', '')}",
    }

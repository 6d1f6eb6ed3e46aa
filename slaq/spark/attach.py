"""Load the Java agent (loss probe and task gate) into a driver's JVM that was started without it."""

import subprocess
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from slaq.errors import SlaqError
from slaq.spark.jar import jar_path

ATTACH_CLASS = "io.slaq.bridge.Attach"
TIMEOUT_S = 30.0


def attach_agent(spark: SparkSession) -> None:
    """Attach from a helper JVM of the same kind: a JVM refuses to attach to itself by default.

    Raises SlaqError where the driver forbids it (`-XX:+DisableAttachMechanism`) or its Java has no attach module.
    """
    jvm: Any = spark._jvm
    pid = str(jvm.java.lang.ProcessHandle.current().pid())
    java = Path(jvm.java.lang.System.getProperty("java.home")) / "bin" / "java"
    jar = str(jar_path())
    command = [str(java), "-cp", jar, ATTACH_CLASS, pid, jar]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SlaqError(refusal(pid, str(error))) from error
    if done.returncode != 0:
        raise SlaqError(refusal(pid, reason(done.stderr)))


def reason(stderr: str) -> str:
    """What a failed helper has to say: its exception, which a line about JAVA_TOOL_OPTIONS may precede."""
    lines = stderr.strip().splitlines() or ["no message"]
    return next((line for line in lines if "Exception" in line), lines[0])


def refusal(pid: str, reason: str) -> str:
    """What to tell a user whose driver cannot be attached to."""
    return (
        f"the SLAQ agent could not be loaded into the running driver (JVM {pid}): {reason}. Start the driver with "
        f"spark.driver.extraJavaOptions=-javaagent:{jar_path()} instead"
    )

"""The jar is built from sources by one script, which says what is missing."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from slaq.spark.jar import jar_path

BUILD = Path(__file__).resolve().parents[2] / "jvm-bridge" / "build.py"


def test_the_jar_names_its_agent() -> None:
    with zipfile.ZipFile(jar_path()) as jar:
        manifest = jar.read("META-INF/MANIFEST.MF").decode()
        names = set(jar.namelist())
    for line in (
        "Premain-Class: io.slaq.probe.Agent",
        "Agent-Class: io.slaq.probe.Agent",
        "Can-Retransform-Classes: true",
    ):
        assert line in manifest
    assert {"io/slaq/bridge/SlaqPlugin.class", "io/slaq/probe/Agent.class"} <= names


def test_a_missing_jdk_is_named_with_its_remedy() -> None:
    environment = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"} | {"PATH": "/nonexistent"}
    done = subprocess.run([sys.executable, str(BUILD)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Install a JDK" in done.stderr
    assert "Traceback" not in done.stderr

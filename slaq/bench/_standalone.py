"""A real standalone cluster on this machine for the length of a measurement: one master, some workers."""

import importlib.util
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from slaq.errors import SlaqError

START_TIMEOUT_S = 180.0
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"


@contextmanager
def standalone_cluster(workers: int, cores_per_worker: int) -> Iterator[str]:
    """Start the processes, yield the master's address, end them."""
    with tempfile.TemporaryDirectory(prefix="slaq-cluster-") as folder:
        processes: list[subprocess.Popen[bytes]] = []
        try:
            log = Path(folder) / "master.log"
            processes.append(_start(log, MASTER, "--host", "127.0.0.1", "--port", "0", "--webui-port", "0"))
            address = _wait_for(log, r"spark://127\.0\.0\.1:[1-9]\d*")
            for number in range(workers):
                log = Path(folder) / f"worker-{number}.log"
                sizes = ["--cores", str(cores_per_worker), "--memory", "2g", "--work-dir", f"{folder}/work-{number}"]
                processes.append(_start(log, WORKER, "--host", "127.0.0.1", "--webui-port", "0", *sizes, address))
                _wait_for(log, "Successfully registered with master")
            yield address
        finally:
            for process in reversed(processes):
                process.terminate()
            for process in processes:
                process.wait(20)


def spark_home() -> str:
    """The folder of the installed pyspark, found without importing it."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise SlaqError("no pyspark is installed here; install it first: pip install pyspark")
    return str(Path(spec.origin).parent)


def _start(log: Path, *command: str) -> "subprocess.Popen[bytes]":
    home = spark_home()
    environment = {**os.environ, "SPARK_HOME": home, "SPARK_NO_DAEMONIZE": "1"}
    with log.open("wb") as out:
        return subprocess.Popen(
            [f"{home}/bin/spark-class", *command], stdout=out, stderr=subprocess.STDOUT, env=environment
        )


def _wait_for(log: Path, pattern: str) -> str:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        found = re.search(pattern, log.read_text(errors="replace"))
        if found:
            return found.group()
        time.sleep(0.1)
    raise SlaqError(f"no {pattern!r} in the log within {START_TIMEOUT_S:g} s; its end is: {log.read_text()[-500:]}")

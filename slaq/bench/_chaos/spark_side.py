"""The Spark part of a run: a standalone master and worker, one application on them, and one in a JVM of its own."""

import json
import os
import re
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path

from slaq.bench._chaos.parts import Program, children
from slaq.bench._standalone import MASTER, WORKER, spark_home
from slaq.errors import SlaqError
from slaq.spark.jar import launch_conf

APPLICATIONS = ("local", "standalone")
FITS = 12
SPARK_NAME = "spark-"
START_S = 180.0
SIDECAR, EXECUTOR, JOB = "slaq.driver.sidecar", "CoarseGrainedExecutorBackend", "spark_job.py"


class SparkSide:
    """Its processes. Applications whose driver was killed are started again and go on with their next fit."""

    def __init__(self, folder: Path, endpoint: str, token: Path, master_port: int) -> None:
        self.folder = folder
        home, variables = spark_home(), spark_variables()
        java = Path(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else shutil.which("java")
        recovery = ["-Dspark.deploy.recoveryMode=FILESYSTEM", f"-Dspark.deploy.recoveryDirectory={folder}/recovery"]
        master = f"spark://127.0.0.1:{master_port}"
        daemon = [str(java), "-Xmx256m", "-cp", f"{home}/jars/*"]
        self.master = Program(
            "the master",
            [*daemon[:2], *recovery, *daemon[2:], MASTER, "--host", "127.0.0.1", "--port", str(master_port),
             "--webui-port", "0"],
            folder / "master.log",
            variables,
        )  # fmt: skip
        self.worker = Program(
            "the worker",
            [*daemon, WORKER, "--host", "127.0.0.1", "--webui-port", "0", "--cores", "2", "--memory", "2g",
             "--work-dir", str(folder / "work"), master],
            folder / "worker.log",
            variables,
        )  # fmt: skip
        conf = {
            **launch_conf(),
            "spark.slaq.endpoint": endpoint,
            "spark.slaq.tokenFile": str(token),
            "spark.slaq.user": "alice",
            "spark.slaq.python": sys.executable,
            "spark.slaq.progress": "false",
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": "512m",
            "spark.executor.memory": "512m",
            "spark.executor.cores": "1",
            "spark.sql.shuffle.partitions": "2",
            "spark.task.maxFailures": "20",
            "spark.excludeOnFailure.enabled": "false",
        }
        options = [part for name, value in conf.items() for part in ("--conf", f"{name}={value}")]
        job = str(Path(__file__).with_name(JOB))
        self.drivers = {
            name: Program(
                f"driver {name}",
                [f"{home}/bin/spark-submit", "--master", where, "--name", f"{SPARK_NAME}{name}", *options, job,
                 str(self.out(name)), str(FITS)],
                folder / f"driver-{name}.log",
                variables,
            )
            for name, where in zip(APPLICATIONS, ("local[2]", master), strict=True)
        }  # fmt: skip

    def out(self, name: str) -> Path:
        """What an application says of its fits."""
        return self.folder / f"fits-{name}"

    def start(self) -> None:
        """Start everything, and wait until every application has fitted once."""
        (self.folder / "recovery").mkdir(exist_ok=True)
        self.master.start()
        self.worker.start()
        for driver in self.drivers.values():
            driver.start()
        deadline = time.monotonic() + START_S
        while not all(self.out(name).exists() for name in self.drivers):
            dead = [driver.name for driver in self.drivers.values() if not driver.alive]
            if dead or time.monotonic() > deadline:
                raise SlaqError(f"{', '.join(dead) or 'an application'} did not begin to train; see {self.folder}")
            time.sleep(0.1)

    def pids(self, part: str) -> list[int]:
        """The processes of a part: `sidecar NAME`, `driver NAME`, `executor`, `master`."""
        what, _, name = part.partition(" ")
        if what == "master":
            return _pid(self.master)
        if what == "executor":
            return _below(self.worker, EXECUTOR)
        return _below(self.drivers[name], SIDECAR if what == "sidecar" else JOB)

    def programs(self) -> list[Program]:
        """Everything that was started."""
        return [self.master, self.worker, *self.drivers.values()]

    def done(self) -> bool:
        """Whether every application has come to its end."""
        return not any(driver.alive for driver in self.drivers.values())

    def close(self) -> None:
        """End everything."""
        for program in self.programs():
            for pid in [*(children(program.process.pid) if program.process else ()), *_pid(program)]:
                with suppress(ProcessLookupError):
                    os.kill(pid, 9)
            program.kill()


def plain_models(folder: Path) -> list[list[float]]:
    """The models without SLAQ and without faults."""
    out, job = folder / "fits-plain", str(Path(__file__).with_name(JOB))
    command = [f"{spark_home()}/bin/spark-submit", "--master", "local[2]", "--conf", "spark.ui.enabled=false", job]
    program = Program("plain Spark", [*command, str(out), str(FITS)], folder / "plain.log", spark_variables())
    program.start()
    assert program.process is not None
    if program.process.wait(START_S) != 0:
        raise SlaqError(f"plain Spark failed; its log is {program.log.read_text()[-2000:]}")
    return [json.loads(line)["model"] for line in out.read_text().splitlines()]


def spark_variables() -> dict[str, str]:
    """What Spark's programs find in their environment."""
    return {"SPARK_HOME": spark_home(), "PYSPARK_PYTHON": sys.executable}


def _pid(program: Program) -> list[int]:
    return [program.process.pid] if program.alive and program.process is not None else []


def _below(program: Program, pattern: str) -> list[int]:
    """Processes below a program whose command line says this."""
    return [pid for root in _pid(program) for pid, command in children(root).items() if re.search(pattern, command)]

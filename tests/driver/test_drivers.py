"""Whole drivers with SLAQ in them: example programs, a configuration alone, a Java jar."""

import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from slaq.bench._programs import IN_TESTS, PROGRAMS
from slaq.bench.coverage import normal
from slaq.driver.journal import read
from slaq.spark.jar import launch_conf
from slaq.spark.submit import find_spark_home
from tests import short_lived
from tests.driver.obedient import ConstantScheduler
from tests.driver.session import EXAMPLES
from tests.driver.test_event_files import by_fit

pytestmark = [pytest.mark.spark, pytest.mark.slow]

HOME = find_spark_home(os.environ)
HERE = Path(__file__).parent
PLAIN = [str(HOME / "bin" / "spark-submit")]
SLAQ = [sys.executable, "-m", "slaq.cli", "submit"]
SETTINGS = ("spark.ui.enabled=false", "spark.ui.showConsoleProgress=false", "spark.sql.shuffle.partitions=2")
QUIET = ["--master", "local[2]", *(part for setting in SETTINGS for part in ("--conf", setting))]


def submit(command, folder, **environ):
    """Run a driver in a folder that looks like the pyspark package, where the example programs find their data."""
    folder.mkdir(exist_ok=True)
    for name in ("data", "examples"):
        (folder / name).symlink_to(HOME / name)
    environment = {**os.environ, **short_lived.JVM, "PYSPARK_PYTHON": sys.executable, **environ}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


def test_six_programs_and_our_example_print_the_same_and_every_fit_is_a_job(tmp_path):
    six = [program for program in PROGRAMS if program.name in IN_TESTS]
    unmodified = str(EXAMPLES / "unmodified_mllib.py")
    program = [str(HERE / "six_programs.py"), *(program.path for program in six), unmodified]
    journal = tmp_path / "jobs.jsonl"
    with ThreadPoolExecutor() as beside:
        waited_for = beside.submit(submit, [*PLAIN, *QUIET, *program], tmp_path / "plain")
        ours = submit([*SLAQ, *QUIET, "--conf", f"spark.slaq.journal={journal}", *program], tmp_path / "slaq")
        plain = waited_for.result()
    assert (plain.returncode, ours.returncode) == (0, 0), ours.stderr[-3000:]
    assert normal(ours.stdout) == normal(plain.stdout)
    jobs = [job for job in read(journal) if job.losses]
    assert len(jobs) == sum(program.fits for program in six) + 1
    assert f"objective {list(jobs[-1].losses)}" in ours.stdout
    assert {job.state for job in jobs} == {"ended"}


def test_the_configuration_alone_is_enough(tmp_path):
    journal = tmp_path / "jobs.jsonl"
    settings = {**launch_conf(), "spark.slaq.python": sys.executable, "spark.slaq.journal": str(journal)}
    settings["spark.slaq.tensorboard"] = str(tmp_path / "curves")
    (tmp_path / "spark-defaults.conf").write_text("".join(f"{key} {value}\n" for key, value in settings.items()))
    command = [*PLAIN, *QUIET, str(HERE / "sidecar_driver.py")]
    done = submit(command, tmp_path / "run", SPARK_CONF_DIR=str(tmp_path))
    lines = dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
    assert lines["token"] == "refused"
    assert lines["seen"] == "True 3.0"
    assert lines["attached"].startswith("SLAQ: the plugin of this application already does the work")
    assert [(job.name, len(job.losses)) for job in read(journal)] == [("own-loop", 5)]
    # The driver was killed: its sidecar goes with it.
    ends = time.monotonic() + 20.0
    while Path(f"/proc/{lines['sidecar']}").exists() and time.monotonic() < ends:
        time.sleep(0.1)
    assert not Path(f"/proc/{lines['sidecar']}").exists()
    assert [(name, len(curve)) for name, curve in by_fit(tmp_path / "curves").items()] == [("own-loop", 5)]


def test_an_unknown_key_is_said_and_the_program_runs_to_its_own_end(tmp_path):
    program = tmp_path / "three.py"
    program.write_text(
        "import sys\nfrom pyspark.sql import SparkSession\n"
        "print(SparkSession.builder.getOrCreate().range(10).count())\nsys.exit(3)\n"
    )
    done = submit([*SLAQ, *QUIET, "--conf", "spark.slaq.progres=false", str(program)], tmp_path / "run")
    assert (done.returncode, done.stdout.split()) == (3, ["10"])
    sentence = "SLAQ is off in this application: spark.slaq.progres: unknown key; did you mean spark.slaq.progress?"
    assert done.stderr.count(sentence) == 1


def test_a_program_that_does_not_stop_spark_ends_all_the_same(tmp_path):
    program = tmp_path / "ten.py"
    program.write_text("from pyspark import SparkContext\nprint(SparkContext().range(10).count())\n")
    done = submit([*SLAQ, *QUIET, str(program)], tmp_path / "run")
    assert (done.returncode, done.stdout.split()) == (0, ["10"])


@pytest.fixture(scope="module")
def jar(tmp_path_factory):
    folder = tmp_path_factory.mktemp("java")
    source = EXAMPLES / "java_app" / "Train.java"
    subprocess.run(["javac", "-cp", f"{HOME}/jars/*", "-d", str(folder / "classes"), str(source)], check=True)
    subprocess.run(
        ["jar", "--create", "--file", str(folder / "train.jar"), "-C", str(folder / "classes"), "."], check=True
    )
    return folder / "train.jar"


def test_a_java_jar_is_seen_and_throttled(tmp_path, jar):
    scheduler = ConstantScheduler(cores=0.2)
    keys = ["--conf", f"spark.slaq.endpoint={scheduler.endpoint}", "--conf", "spark.slaq.strict=true"]
    try:
        done = submit([*SLAQ, *QUIET, *keys, "--class", "Train", str(jar), "60"], tmp_path / "run")
    finally:
        scheduler.close()
    assert done.returncode == 0, done.stderr[-3000:]
    objective = [float(value) for value in re.findall(r"objective (\S+)", done.stdout)]
    (fit,) = (job for job, declared in scheduler.declared.items() if declared.estimator == "LogisticRegression")
    reports = scheduler.reports[fit]
    assert [report.loss for report in reports] == objective
    assert all(report.work_core_s is not None and report.serial_s is not None for report in reports[1:])
    held = scheduler.held[fit]
    (from_s, before), (to_s, after) = held[len(held) // 3], held[-1]
    # Tasks outlast a moment of the grant, so the rate scatters around it.
    assert 0.0 < (after - before) / (to_s - from_s) < 0.5

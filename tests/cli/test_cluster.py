"""`slaq cluster`: real master, workers, scheduler and applications on this host."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from slaq.cli import _processes as processes
from tests import short_lived
from tests.cli.command import slaq
from tests.cli.sleeping_app import TASK_S

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(600)]

WORKERS, CORES, APPLICATIONS = 2, 1, 4
CAPACITY = WORKERS * CORES
LEASE_S = 10.0
EPOCH_S = 0.5
SLACK_S = 10.0
"""What a busy machine may add."""
APP = Path(__file__).with_name("sleeping_app.py")
UP = (
    *("cluster", "up", "--workers", str(WORKERS), "--cores", str(CORES), "--memory", "512m", "--epoch", str(EPOCH_S)),
    *("--applications", str(APPLICATIONS)),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("cluster")
    result = slaq(*UP, "--dir", str(path))
    assert result.code == 0, result.err
    assert f"export SPARK_CONF_DIR={path}/conf" in result.out
    assert "slaq submit app.py" in result.out
    try:
        yield path
    finally:
        assert slaq("cluster", "down", "--dir", str(path)).code == 0
        assert ours(path) == []


def ours(folder: Path) -> list[str]:
    """Processes that have anything to do with the cluster."""
    return [process.command for process in processes.running() if str(folder) in process.command]


def facts(folder: Path) -> dict:
    return json.loads(slaq("cluster", "status", "--dir", str(folder), "--format", "json").out)


def test_all_of_it_runs_and_the_conf_folder_leads_every_command_to_it(folder, monkeypatch):
    status = slaq("cluster", "status", "--dir", str(folder))
    assert status.code == 0
    assert "2 workers, 0 applications" in status.out
    monkeypatch.setenv("SPARK_CONF_DIR", str(folder / "conf"))
    seen = json.loads(slaq("status", "--format", "json").out)
    assert seen["capacity"] == {"cores": CAPACITY, "source": "fixed", "problem": ""}
    assert slaq("conf", "check", str(folder / "conf" / "slaq.toml")).code == 0


def test_up_again_finds_it_running_and_another_shape_is_refused(folder):
    before = facts(folder)
    again = slaq(*UP, "--dir", str(folder))
    assert (again.code, again.out.startswith("Already running")) == (0, True)
    assert facts(folder) == before
    other = slaq(*UP, "--dir", str(folder), "--workers", "1")
    assert (other.code, other.err) == (
        2,
        f"slaq: another cluster runs in {folder}; end it first: slaq cluster down\n",
    )


def test_an_application_that_is_held_when_the_scheduler_dies_goes_on_after_its_lease(folder, tmp_path):
    with application(folder, tmp_path, seconds=20):
        endpoint = facts(folder)["endpoint"]
        wait_until(lambda: jobs_of(endpoint))
        assert slaq("hold", *jobs_of(endpoint), "--endpoint", endpoint).code == 0
        wait_until(lambda: rests(endpoint))
        held_at = time.time()
        os.kill(next(part["pid"] for part in facts(folder)["processes"] if part["role"] == "scheduler"), signal.SIGKILL)
        killed_at = time.time()
    launches = launched(next(tmp_path.glob("app-*")))
    assert any(at < held_at for at in launches)
    after = min(at for at in launches if at > held_at)
    assert killed_at + LEASE_S / 2 < after < killed_at + LEASE_S + SLACK_S
    assert slaq(*UP, "--dir", str(folder)).code == 0


def test_after_a_crash_status_says_so_and_up_repairs_it(folder):
    before = {part["role"]: part["pid"] for part in facts(folder)["processes"]}
    for role in ("worker-1", "scheduler"):
        os.kill(before[role], signal.SIGKILL)
    wait_until(lambda: not facts(folder)["running"])
    assert slaq("cluster", "status", "--dir", str(folder)).code == 1
    repaired = slaq(*UP, "--dir", str(folder))
    assert repaired.out.startswith("Started")
    after = {part["role"]: part["pid"] for part in facts(folder)["processes"]}
    assert all(after.values())
    assert not set(after.values()) & set(before.values())


def test_down_leaves_nothing_even_without_its_own_notes(folder):
    (folder / "cluster.json").unlink()
    os.kill(next(p.pid for p in processes.running() if "deploy.master" in p.command and str(folder) in p.command), 19)
    assert slaq("cluster", "down", "--dir", str(folder)).out == "4 processes ended\n"
    assert ours(folder) == []
    assert slaq("cluster", "down", "--dir", str(folder)).out == "Nothing was running\n"
    assert slaq("cluster", "status", "--dir", str(folder)).code == 1


def test_what_cannot_start_says_why_and_leaves_nothing(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = slaq(*UP, "--dir", str(tmp_path), "--master-port", str(port))
    assert (result.code, result.err) == (
        2,
        f"slaq: port {port} is taken; give another --master-port, or 0 for a free one\n",
    )
    assert slaq(*UP, "--dir", str(tmp_path), "--memory", "lots").code == 2
    assert ours(tmp_path) == []
    assert slaq("cluster", "down", "--dir", str(tmp_path / "never")).out == "Nothing was running\n"


def jobs_of(endpoint: str) -> list[str]:
    """The ids of the jobs that run."""
    answer = slaq("jobs", "--state", "running", "--endpoint", endpoint, "--format", "json")
    return [job["id"] for job in json.loads(answer.out)["jobs"]]


def rests(endpoint: str) -> bool:
    """Whether no task held a core between two looks that are two beats apart."""

    def core_s() -> list[float]:
        answer = slaq("jobs", "--state", "held", "--endpoint", endpoint, "--format", "json")
        return [job["core_s"] for job in json.loads(answer.out)["jobs"]]

    before = core_s()
    time.sleep(2 * EPOCH_S + TASK_S)
    return bool(before) and core_s() == before


@contextlib.contextmanager
def application(folder: Path, notes: Path, seconds: float) -> Iterator[None]:
    """A real application that has begun to work; it ends well after the block."""
    # As a user runs it: the conf folder is all it is given.
    env = os.environ | short_lived.JVM | {"SPARK_CONF_DIR": str(folder / "conf"), "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, str(APP), str(notes), str(seconds)]
    with (notes / "log").open("w") as log, subprocess.Popen(command, env=env, stdout=log, stderr=log) as process:
        try:
            wait_until((notes / "ready").exists, seconds=200)
            yield
            assert process.wait(200) == 0
        finally:
            process.kill()


def launched(log: Path) -> list[float]:
    """When each task was launched, by Spark's event log."""
    events = (json.loads(line) for line in log.read_text("utf-8").splitlines())
    return [event["Task Info"]["Launch Time"] / 1e3 for event in events if event["Event"] == "SparkListenerTaskStart"]


def wait_until(condition, seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)

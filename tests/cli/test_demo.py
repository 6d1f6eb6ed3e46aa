"""The demo, tiny, without a terminal."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from slaq.cli._demo_view import loss_left
from slaq.cli.demo import command
from tests import short_lived

TINY = ["--jobs", "2", "--gap", "0.1", "--rows", "0.02", "--cores", "2"]


def test_what_is_left_of_a_loss_falls_from_one_to_nothing() -> None:
    curve = [(float(k), 0.5**k) for k in range(20)]
    left = [loss_left(curve[:k]) for k in (1, 5, 20)]
    assert left[0] == 1.0
    assert left[0] > left[1] > left[2] >= 0.0


@pytest.mark.spark
@pytest.mark.slow
def test_the_demo_compares_and_writes_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in short_lived.JVM.items():
        monkeypatch.setenv(name, value)
    page = tmp_path / "demo.html"
    result = CliRunner().invoke(command, [*TINY, "--length", "0.1", "--page", str(page)])
    assert result.exit_code == 0, result.output
    assert "Mean time to 90 % of a job's loss reduction" in result.output
    assert "spark-fair" in page.read_text("utf-8")


def family(pid: int) -> set[int]:
    """A process and its descendants."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the demo's processes in /proc")
def test_an_interrupted_demo_leaves_nothing_running(tmp_path: Path) -> None:
    command_line = [sys.executable, "-u", "-m", "slaq.cli", "demo", *TINY, "--length", "50"]
    demo = subprocess.Popen(
        command_line,
        cwd=tmp_path,
        env=os.environ | short_lived.JVM,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert demo.stdout is not None
    for line in demo.stdout:
        if "slaq: 2 jobs" in line:
            break
    processes = family(demo.pid)
    assert len(processes) > 1, "Spark runs in a process of its own"
    os.kill(demo.pid, signal.SIGINT)
    demo.communicate(timeout=60)
    assert demo.returncode != 0
    deadline = time.monotonic() + 30
    while left := {pid for pid in processes if Path(f"/proc/{pid}").exists()}:
        assert time.monotonic() < deadline, f"still running: {left}"
        time.sleep(0.2)

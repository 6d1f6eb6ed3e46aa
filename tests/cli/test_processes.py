"""Daemons are found by their command line and ended with all their group."""

import os
import sys
import time
from pathlib import Path

from slaq.cli import _processes as processes

PARENT = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
time.sleep(1000)
"""
STUBBORN = (
    "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('deaf', flush=True)\ntime.sleep(1000)"
)


def daemon(tmp_path: Path, program: str) -> int:
    command = [sys.executable, "-c", program, str(tmp_path)]
    return processes.start(command, tmp_path / "log", dict(os.environ), tmp_path).pid


def wait_until(condition) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_daemon_and_its_children_end_together(tmp_path):
    pid = daemon(tmp_path, PARENT)
    wait_until(lambda: sum(process.group == pid for process in processes.running()) == 2)
    met, left = processes.stop(lambda process: str(tmp_path) in process.command)
    assert (met, left) == (2, [])
    assert not [process for process in processes.running() if process.group == pid]


def test_one_that_does_not_listen_is_killed(tmp_path):
    pid = daemon(tmp_path, STUBBORN)
    wait_until(lambda: "deaf" in (tmp_path / "log").read_text())
    assert processes.stop(lambda process: process.pid == pid, patience_s=0.5) == (1, [])


def test_nothing_to_end(tmp_path):
    assert processes.stop(lambda process: str(tmp_path / "none") in process.command) == (0, [])


def test_both_ways_of_listing_agree(tmp_path):
    pid = daemon(tmp_path, "import time; time.sleep(1000)")
    try:
        # A process that was just forked has no command line of its own yet.
        wait_until(lambda: any(process.pid == pid and "sleep" in process.command for process in processes.running()))
        (here,) = [process for process in processes._from_ps() if process.pid == pid]
        assert here in processes.running()
        assert here.group == pid
    finally:
        processes.stop(lambda process: process.pid == pid)


def test_a_port_that_is_taken_is_not_free():
    import socket

    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        assert not processes.is_free(server.getsockname()[1])
    assert processes.is_free(processes.free_port())

"""Processes of this host: starting daemons, finding them by their command line, ending them."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
Child = subprocess.Popen[bytes]


@dataclass(frozen=True, slots=True)
class Process:
    """A running process; zombies are not counted."""

    pid: int
    group: int
    command: str


def running() -> list[Process]:
    """All processes that this user can see."""
    return _from_proc() if (PROC / "self" / "stat").exists() else _from_ps()


def _from_proc() -> list[Process]:
    found = []
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):  # it ended meanwhile
                state, _, group = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if state not in "ZX":
                    found.append(Process(int(folder.name), int(group), command.strip()))
    return found


def _from_ps() -> list[Process]:
    """For systems without /proc (macOS)."""
    output = subprocess.run(["ps", "-axwwo", "pid=,pgid=,stat=,command="], capture_output=True, text=True, check=True)
    rows = (line.split(None, 3) for line in output.stdout.splitlines())
    return [Process(int(row[0]), int(row[1]), row[3]) for row in rows if len(row) == 4 and row[2][0] != "Z"]


def start(command: Sequence[str], log: Path, env: Mapping[str, str], folder: Path) -> Child:
    """Start a daemon in a process group of its own, with its output in a file."""
    with log.open("ab") as output:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=env, cwd=folder, start_new_session=True
        )


def stop(chosen: Callable[[Process], bool], patience_s: float = 5.0) -> tuple[int, list[Process]]:
    """End the chosen processes and their process groups: with SIGTERM first, then with SIGKILL.

    The rest of a group (an executor's Python workers, for example) is ended also when its chosen member is gone.
    Returns how many processes were found, and those that could not be ended.
    """
    groups: set[int] = set()
    met: set[int] = set()
    began = time.monotonic()
    while True:
        everything = running()
        groups |= {process.group for process in everything if chosen(process)} - {os.getpgrp()}
        found = [process for process in everything if process.group in groups]
        met |= {process.pid for process in found}
        elapsed_s = time.monotonic() - began
        if not found or elapsed_s > 2 * patience_s:
            return len(met), found
        for process in found:
            _signal(process.pid, signal.SIGTERM if elapsed_s < patience_s else signal.SIGKILL)
        for _ in range(10):
            _reap(met)
            time.sleep(0.02)


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
        os.kill(pid, signal.SIGCONT)  # a stopped process ends only once it runs


def _reap(pids: Iterable[int]) -> None:
    """Wait for children of this process, which otherwise stay zombies."""
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def free_port() -> int:
    """A port of the loopback on which nothing listens at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def is_free(port: int) -> bool:
    """Whether a server could listen on that port of the loopback."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True

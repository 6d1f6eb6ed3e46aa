"""The processes of a run: started, killed, stopped, watched."""

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from slaq.bench._chaos.evidence import Sample
from slaq.errors import SlaqError

START_S = 60.0


def environment() -> dict[str, str]:
    """The environment of every process: without settings of whoever runs the program."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SLAQ_")}
    return kept | {"PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}


def write_token(file: Path) -> None:
    """A new token, there as a whole or not at all."""
    new = file.with_suffix(".new")
    with suppress(FileNotFoundError):
        new.unlink()
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT, 0o600), "w") as out:
        out.write(secrets.token_urlsafe(32))
    new.rename(file)


class Program:
    """One process at a time, started again and again; its output goes to one file."""

    def __init__(self, name: str, command: Sequence[str], log: Path) -> None:
        self.name, self.log = name, log
        self._command = list(command)
        self.process: subprocess.Popen[bytes] | None = None
        self.starts = 0
        self.samples: list[list[Sample]] = []
        """What was seen of each of its processes."""
        self.file_bytes: int | None = None
        """The size that no file may exceed; None: any."""

    @property
    def alive(self) -> bool:
        """Whether its process is there."""
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        """Start it; it is not ready yet."""
        assert not self.alive
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment()
            )
        self.starts += 1
        self.samples.append([])
        self.limit_files(self.file_bytes)

    def await_ready(self, ready: Callable[[], bool]) -> bool:
        """Wait until it is ready; False: it ended first."""
        deadline = time.monotonic() + START_S
        while not ready():
            if not self.alive:
                return False
            if time.monotonic() > deadline:
                raise SlaqError(f"{self.name} was not ready after {START_S:.0f} s; its log is {self.log}")
            time.sleep(0.02)
        return True

    def send(self, number: signal.Signals) -> None:
        """Send a signal, if there is a process."""
        if self.alive:
            assert self.process is not None
            self.process.send_signal(number)

    def kill(self) -> None:
        """End it at once."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def end(self, patience_s: float = 15.0) -> int | None:
        """End it in order; its exit code, None if it had to be killed."""
        if self.process is None:
            return 0
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        try:
            return self.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def limit_files(self, size: int | None) -> None:
        """Let no file of the process grow beyond this size; None: any size again."""
        import resource

        self.file_bytes = size
        if self.alive:
            assert self.process is not None
            soft = resource.RLIM_INFINITY if size is None else size
            resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (soft, resource.RLIM_INFINITY))

    def watch(self) -> None:
        """Note threads, files and memory of the process as it is now."""
        if self.alive:
            assert self.process is not None
            found = sample(self.process.pid)
            if found is not None:
                self.samples[-1].append(found)


def sample(pid: int) -> Sample | None:
    """A process now; None if it is gone."""
    try:
        status = dict(_pairs(Path(f"/proc/{pid}/status").read_text()))
        files = len(os.listdir(f"/proc/{pid}/fd"))
        return Sample(time.monotonic(), int(status["Threads"]), files, int(status["VmRSS"].split()[0]) / 1024)
    except (OSError, KeyError):  # a zombie has no memory
        return None


def _pairs(text: str) -> list[tuple[str, str]]:
    return [(name, value.strip()) for name, _, value in (line.partition(":") for line in text.splitlines())]

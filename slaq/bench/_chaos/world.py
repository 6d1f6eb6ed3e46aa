"""The small world of a run: a scheduler process, agents in processes of their own, and the network between them."""

import json
import re
import signal
import socket
import sys
import tempfile
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

from slaq.bench._chaos.parts import Program, write_token
from slaq.bench._chaos.proxy import Proxy
from slaq.bench._chaos.served import set_clock
from slaq.bench._chaos.volume import Volume
from slaq.config import read_token
from slaq.errors import SlaqError

CAPACITY, EPOCH_S, LEASE_S = 8, 0.2, 1.5
APPS_PER_PROCESS = 2
REQUESTS_PER_S = 10_000.0
_CONF = """\
token_file = "{folder}/admin.token"
[scheduler]
port = {port}
state_dir = "{state}"
capacity = {capacity}
epoch_s = {epoch_s}
lease_s = {lease_s}
policy = "{policy}"
[limits]
requests_per_s = {requests_per_s}
[users.alice]
token_file = "{folder}/alice.token"
"""


class World:
    """Everything that a fault may hit. Used from one thread."""

    def __init__(self, processes: int) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="slaq-chaos-")
        self.folder = Path(self._temporary.name)
        self.volume = Volume(self.folder / "state")
        self.port = _free_port()
        self.conf, self.clock = self.folder / "slaq.toml", self.folder / "clock"
        self.stop = self.folder / "stop"
        """As soon as this file is there, no new job begins."""
        self.proxy = Proxy(self.port)
        self.endpoint = f"http://127.0.0.1:{self.proxy.port}"
        self.surprises: list[str] = []
        self.history_since_s = 0.0
        self._scheduler_since_s = 0.0
        self._damaged: int | None = None
        """The inode of the database that a fault wrote into."""
        self.damaged_logs: set[str] = set()
        self.died: dict[str, float] = {}
        """When the process of an application was killed."""
        self.silent: dict[str, list[tuple[float, float]]] = {}
        self._apps: dict[str, list[str]] = {}
        set_clock(self.clock, 0.0)
        for who in ("admin", "alice"):
            write_token(self.token(who))
        self.write_conf()
        command = [sys.executable, "-m", "slaq.bench._chaos.served", str(self.conf), str(self.clock)]
        self.scheduler = Program("the scheduler", command, self.folder / "scheduler.log")
        self.trainers = [Program(f"trainers {n}", [], self.folder / f"trainers-{n}.log") for n in range(processes)]
        self._retired: list[Program] = []

    def token(self, who: str) -> Path:
        """The file with somebody's token."""
        return self.folder / f"{who}.token"

    def write_conf(self, policy: str = "finish-line") -> None:
        """The conf file; it is read at a start and on SIGHUP."""
        self.conf.write_text(
            _CONF.format(
                folder=self.folder, port=self.port, state=self.volume.folder, capacity=CAPACITY, epoch_s=EPOCH_S,
                lease_s=LEASE_S, requests_per_s=REQUESTS_PER_S, policy=policy,
            )
        )  # fmt: skip

    @property
    def limited(self) -> bool:
        """Whether the scheduler's log may not take what it says."""
        return self.scheduler.file_bytes is not None

    def start_scheduler(self) -> bool:
        """Start it and wait until it listens; False: it refused to start."""
        self._scheduler_since_s = time.monotonic()
        if self._damaged is not None and self._damaged == _inode(self.database):
            self.lose_history()
        self.scheduler.start()
        return self.scheduler.await_ready(lambda: _listens(self.port))

    @property
    def database(self) -> Path:
        """The scheduler's history."""
        return self.volume.folder / "history.db"

    def note_damage(self) -> None:
        """A fault wrote into the database; whichever scheduler finds that out loses what others wrote into it."""
        self._damaged = _inode(self.database)
        self.lose_history()

    def lose_history(self) -> None:
        """The database is no more; a scheduler still knows what it wrote itself."""
        self.history_since_s = self._scheduler_since_s

    def start_trainers(self, number: int) -> None:
        """Start a process of agents, with applications that were never there before."""
        old = self.trainers[number]
        if old.starts:
            self._retired.append(old)
        generation = len(self._retired)
        apps = [f"p{number}g{generation}a{n}x" for n in range(APPS_PER_PROCESS)]
        journal = self.folder / f"journal-{number}-{generation}"
        arguments = [self.endpoint, str(self.token("alice")), str(journal), str(self.stop), *apps]
        fresh = Program(old.name, [sys.executable, "-m", "slaq.bench._chaos.trainers", *arguments], old.log)
        self.trainers[number] = fresh
        self._apps[fresh.name] = apps
        fresh.start()
        fresh.await_ready(journal.exists)

    def apps_of(self, trainers: Program) -> list[str]:
        """The applications in a process."""
        return self._apps.get(trainers.name, [])

    def hang_up(self) -> None:
        """Have the scheduler read its conf file again."""
        self.scheduler.send(signal.SIGHUP)

    def get(self, path: str) -> Any:
        """Ask the scheduler as its administrator, past the proxy."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}")
        request.add_header("Authorization", f"Bearer {read_token(self.token('admin'))}")
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)

    def programs(self) -> list[Program]:
        """Everything that ever ran."""
        return [self.scheduler, *self._retired, *self.trainers]

    def watch(self) -> None:
        """Look at every process and every exit that nobody asked for."""
        for program in (self.scheduler, *self.trainers):
            program.watch()

    def note_exit(self, program: Program) -> None:
        """A process ended that should not have."""
        code = None if program.process is None else program.process.poll()
        self.surprises.append(f"{program.name} ended by itself with {code}: {tail(program.log)}")

    def journals(self) -> list[Path]:
        """What the agents wrote."""
        return sorted(self.folder.glob("journal-*"))

    def tracebacks(self) -> list[str]:
        """Every stack trace in a log of SLAQ's processes."""
        found = []
        for program in self.programs():
            text = program.log.read_text("utf-8", "replace") if program.log.exists() else ""
            for trace in re.findall(r"Traceback \(most recent call last\):\n(?: .*\n)*(.+)", text):
                found.append(f"{program.name} left a stack trace: {trace}")
        return sorted(set(found))

    def close(self) -> None:
        """End everything and leave nothing."""
        self.volume.drain()
        for program in self.programs():
            with suppress(OSError, SlaqError):
                program.limit_files(None)
            program.send(signal.SIGCONT)
            program.kill()
        self.proxy.close()
        self.volume.close()
        self._temporary.cleanup()


def tail(log: Path, lines: int = 5) -> str:
    """The end of a log."""
    return "\n".join(log.read_text("utf-8", "replace").splitlines()[-lines:]) if log.exists() else ""


def _inode(file: Path) -> int | None:
    with suppress(FileNotFoundError):
        return file.stat().st_ino
    return None


def await_true(condition: Any, seconds: float) -> bool:
    """Whether something comes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1.0):
        return True
    return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port

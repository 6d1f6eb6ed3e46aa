"""Daemons of this host that belong together, a SLAQ scheduler among them; their files are in one folder.

A folder holds one set of daemons at most. They are found by their command lines, so that a set can be ended after a
crash of any part, also of the command that started it.
"""

import contextlib
import fcntl
import http.client
import importlib
import shutil
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

import msgspec

from slaq.cli import _processes as processes
from slaq.cli._extras import naming_the_extra
from slaq.cli._ports import as_asked
from slaq.cli._spark_install import environment
from slaq.config import literal
from slaq.errors import SlaqError

HOST = "127.0.0.1"
START_S = 120.0


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for, with a port of 0 for any free one; or what was started, with the ports in use."""

    epoch_s: float
    policy: str
    scheduler_port: int = 0

    @property
    def capacity(self) -> int:
        """Cores to share out."""
        raise NotImplementedError


S = TypeVar("S", bound=Shape)


@dataclass(frozen=True, slots=True)
class Part:
    """One process of the set; without a pid it does not run."""

    role: str
    pid: int | None
    address: str
    log: Path


class Daemons(ABC, Generic[S]):
    """The daemons whose files are in one folder."""

    name: ClassVar[str]
    """As in `slaq NAME up`."""
    title: ClassVar[str]
    """For people."""
    spec: type[S]

    def __init__(self, folder: Path) -> None:
        self.folder = folder.expanduser().absolute()
        self.conf = self.folder / "conf"
        self.logs = self.folder / "logs"
        self.notes = self.folder / f"{self.name}.json"

    @abstractmethod
    def parts(self, spec: S) -> list[Part]:
        """Every process that should be there."""

    @abstractmethod
    def _startable(self, asked: S) -> S:
        """The spec with the ports that are going to be used."""

    @abstractmethod
    def _launch(self, spec: S) -> dict[str, processes.Child]:
        """Start all but the scheduler, by role; the configuration is there."""

    @abstractmethod
    def _late(self, spec: S) -> str | None:
        """The role of a process that is not ready yet."""

    @abstractmethod
    def _spark_conf(self, spec: S) -> Mapping[str, str]:
        """What goes into spark-defaults.conf."""

    def _scheduling(self) -> Mapping[str, str]:
        """Further settings of the scheduler."""
        return {}

    def up(self, asked: S) -> tuple[S, bool]:
        """Start the set unless it runs as asked; the second value says whether it was started."""
        with naming_the_extra("the scheduler"):
            importlib.import_module("uvicorn")  # before anything is started
        self.logs.mkdir(parents=True, exist_ok=True)
        with self._lock():
            others = [notes.stem for notes in self.folder.glob("*.json") if notes != self.notes]
            if others:
                raise SlaqError(f"{self.folder} is the folder of a `slaq {others[0]} up`; give another --dir")
            before = self.read()
            if before is not None and all(part.pid for part in self.parts(before)):
                if as_asked(before, asked):
                    return before, False
                raise SlaqError(f"another {self.title} runs in {self.folder}; end it first: slaq {self.name} down")
            self._end()
            try:
                return self._start(self._startable(asked)), True
            except BaseException:
                self._end()
                raise

    def down(self) -> int:
        """End every process of the set, in whatever state it is; the number of processes ended."""
        if not self.folder.is_dir():
            return 0
        with self._lock():
            return self._end()

    def read(self) -> S | None:
        """What was started here and not taken down; it may have crashed since."""
        try:
            return msgspec.json.decode(self.notes.read_bytes(), type=self.spec)
        except (FileNotFoundError, msgspec.DecodeError):
            return None

    def endpoint(self, spec: S) -> str:
        """The address of the set's scheduler."""
        return f"http://{HOST}:{spec.scheduler_port}"

    def _mark(self, role: str = "") -> str:
        """A Java option that tells our JVMs from others."""
        return f"-Dslaq.{self.name}={self.folder}/{role}"

    def _part(self, role: str, address: str) -> Part:
        pids = (process.pid for process in processes.running() if f"{self._mark(role)} " in process.command)
        return Part(role, next(pids, None), address, self.logs / f"{role}.log")

    def _scheduler_part(self, spec: S) -> Part:
        pid = next((process.pid for process in processes.running() if self._is_scheduler(process)), None)
        return Part("scheduler", pid, self.endpoint(spec), self.logs / "scheduler.log")

    def _is_scheduler(self, process: processes.Process) -> bool:
        return "slaq.cli" in process.command and f"scheduler --conf {self.conf}/slaq.toml" in process.command

    def _is_ours(self, process: processes.Process, spec: S | None) -> bool:  # noqa: ARG002 (for those who need it)
        return self._mark() in process.command or self._is_scheduler(process)

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        with (self.folder / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _end(self) -> int:
        known = self.read()
        ended, left = processes.stop(lambda process: self._is_ours(process, known))
        if left:
            raise SlaqError(f"cannot end process {', '.join(str(p.pid) for p in left)}; end it as its owner or as root")
        self.notes.unlink(missing_ok=True)
        shutil.rmtree(self.folder / "work", ignore_errors=True)
        return ended

    def _start(self, spec: S) -> S:
        self._write_conf(spec)
        self.notes.write_bytes(msgspec.json.format(msgspec.json.encode(spec)))
        for log in self.logs.glob("*.log"):
            log.unlink()
        command = [sys.executable, "-m", "slaq.cli", "scheduler", "--conf", str(self.conf / "slaq.toml")]
        self._await(spec, {**self._launch(spec), "scheduler": self._run("scheduler", command)})
        return spec

    def _run(self, role: str, command: list[str], **more: str) -> processes.Child:
        return processes.start(command, self.logs / f"{role}.log", environment() | more, self.folder)

    def _await(self, spec: S, children: dict[str, processes.Child]) -> None:
        """Wait until all are ready and the scheduler decides.

        The children are asked, not the list of processes: right after its start a process has no command line yet.
        """
        deadline = time.monotonic() + START_S
        while late := self._late(spec) or ("" if get(self.endpoint(spec), "/healthz") else "scheduler"):
            dead = [role for role, child in children.items() if child.poll() is not None]
            if dead:
                raise SlaqError(f"the {dead[0]} did not start; the end of {self._tail_of(dead[0])}")
            if time.monotonic() > deadline:
                raise SlaqError(f"the {late} was not ready after {START_S:.0f} s; the end of {self._tail_of(late)}")
            time.sleep(0.1)

    def _tail_of(self, role: str) -> str:
        log = self.logs / f"{role}.log"
        return f"{log}:\n{_tail(log)}"

    def _write_conf(self, spec: S) -> None:
        self.conf.mkdir(parents=True, exist_ok=True)
        lines = "".join(f"{name} {value}\n" for name, value in self._spark_conf(spec).items())
        (self.conf / "spark-defaults.conf").write_text(f"# Written by `slaq {self.name} up`.\n{lines}", "utf-8")
        scheduling: dict[str, str | float] = {
            "port": spec.scheduler_port,
            "state_dir": str(self.folder / "state"),
            "epoch_s": spec.epoch_s,
            "lease_s": max(10.0, 3 * spec.epoch_s),
            "policy": spec.policy,
            "capacity": spec.capacity,
            **self._scheduling(),
        }
        settings = "".join(f"{name} = {literal(value)}\n" for name, value in scheduling.items())
        (self.conf / "slaq.toml").write_text(
            f"# Written by `slaq {self.name} up`.\n"
            f"endpoint = {literal(self.endpoint(spec))}\n\n[scheduler]\n{settings}",
            "utf-8",
        )


def get(address: str, path: str) -> bytes | None:
    """The body of a page of a local daemon; None if it does not answer with one."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=2.0)
    with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(connection):
        connection.request("GET", path)
        response = connection.getresponse()
        return response.read() if response.status == 200 else None
    return None


def _tail(log: Path, lines: int = 15) -> str:
    with contextlib.suppress(OSError):
        return "\n".join(log.read_text("utf-8", "replace").splitlines()[-lines:])
    return ""

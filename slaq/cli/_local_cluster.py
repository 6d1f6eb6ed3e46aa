"""A SLAQ-enabled Spark standalone cluster on this host: a real master, real workers, the scheduler beside them.

Several applications share it because the workers declare room for all of them: `applications` times the cores and
the memory that one application takes. SLAQ keeps the sum of their running tasks at the cores that exist.
"""

import contextlib
import fcntl
import http.client
import importlib
import json
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from slaq.cli import _processes as processes
from slaq.cli._cluster_spec import HOST, Running, Spec, as_asked, with_ports
from slaq.cli._extras import naming_the_extra
from slaq.cli._spark_install import environment, java, spark_home
from slaq.config import literal
from slaq.errors import SlaqError
from slaq.spark.jar import launch_conf

JVM = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""Master and workers only pass messages: a small heap and the quick compiler are enough."""

START_S = 120.0
MARK = "-Dslaq.cluster="


@dataclass(frozen=True, slots=True)
class Part:
    """One process of the cluster; without a pid it does not run."""

    role: str
    pid: int | None
    address: str
    log: Path


class LocalCluster:
    """The cluster whose files are in one folder; a folder holds at most one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.expanduser().absolute()
        self.conf = self.folder / "conf"
        self.logs = self.folder / "logs"

    def up(self, spec: Spec) -> tuple[Running, bool]:
        """Start the cluster unless it runs as asked; the second value says whether it was started."""
        with naming_the_extra("the scheduler"):
            importlib.import_module("uvicorn")  # before anything is started
        self.logs.mkdir(parents=True, exist_ok=True)
        with self._lock():
            before = self.read()
            if before is not None and all(part.pid for part in self.parts(before)):
                if as_asked(before.spec, spec):
                    return before, False
                raise SlaqError(f"another cluster runs in {self.folder}; end it first: slaq cluster down")
            self._end()
            try:
                return self._start(with_ports(spec)), True
            except BaseException:
                self._end()
                raise

    def down(self) -> int:
        """End every process of the cluster, in whatever state it is; the number of processes ended."""
        if not self.folder.is_dir():
            return 0
        with self._lock():
            return self._end()

    def read(self) -> Running | None:
        """What was started here and not taken down; it may have crashed since."""
        try:
            return msgspec.json.decode((self.folder / "cluster.json").read_bytes(), type=Running)
        except (FileNotFoundError, msgspec.DecodeError):
            return None

    def parts(self, cluster: Running) -> list[Part]:
        """Every process that should be there."""
        found = processes.running()

        def part(role: str, address: str) -> Part:
            pids = (process.pid for process in found if f"{self._mark(role)} " in process.command)
            return Part(role, next(pids, None), address, self.logs / f"{role}.log")

        workers = [part(f"worker-{n}", f"{HOST}:{port}") for n, port in enumerate(cluster.worker_ports, 1)]
        scheduler = next((p.pid for p in found if self._is_scheduler(p)), None)
        return [
            part("master", cluster.master),
            *workers,
            Part("scheduler", scheduler, cluster.endpoint, self.logs / "scheduler.log"),
        ]

    def _mark(self, role: str) -> str:
        return f"{MARK}{self.folder}/{role}"

    def _is_scheduler(self, process: processes.Process) -> bool:
        return "slaq.cli" in process.command and f"scheduler --conf {self.conf}/slaq.toml" in process.command

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        with (self.folder / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _end(self) -> int:
        known = self.read()
        urls = [f"Worker@{HOST}:{port}" for port in known.worker_ports] if known else []

        def ours(process: processes.Process) -> bool:
            return (
                f"{MARK}{self.folder}/" in process.command
                or self._is_scheduler(process)
                # Executors briefly outlive a worker that was killed; their command line names it.
                or any(f"--worker-url spark://{url} " in f"{process.command} " for url in urls)
            )

        ended, left = processes.stop(ours)
        if left:
            raise SlaqError(f"cannot end process {', '.join(str(p.pid) for p in left)}; end it as its owner or as root")
        (self.folder / "cluster.json").unlink(missing_ok=True)
        shutil.rmtree(self.folder / "work", ignore_errors=True)
        return ended

    def _start(self, cluster: Running) -> Running:
        spec = cluster.spec
        self._write_conf(cluster)
        (self.folder / "cluster.json").write_bytes(msgspec.json.format(msgspec.json.encode(cluster)))
        for log in self.logs.glob("*.log"):
            log.unlink()
        children = {
            "master": self._launch(
                "master", "master.Master", "--port", str(spec.master_port), "--webui-port", str(spec.web_port)
            )
        }
        for number, port in enumerate(cluster.worker_ports, 1):
            children[f"worker-{number}"] = self._launch(
                f"worker-{number}",
                "worker.Worker",
                *("--port", str(port), "--webui-port", "0", "--work-dir", str(self.folder / "work")),
                *("--cores", str(spec.worker_cores), "--memory", spec.worker_memory),
                cluster.master,
            )
        command = [sys.executable, "-m", "slaq.cli", "scheduler", "--conf", str(self.conf / "slaq.toml")]
        log = self.logs / "scheduler.log"
        children["scheduler"] = processes.start(command, log, environment(), self.folder)
        self._await(cluster, children)
        return cluster

    def _launch(self, role: str, name: str, *arguments: str) -> processes.Child:
        jars = f"{spark_home()}/jars/*"
        command = [java(), *JVM, self._mark(role), "-cp", jars, f"org.apache.spark.deploy.{name}", "--host", HOST]
        return processes.start([*command, *arguments], self.logs / f"{role}.log", environment(), self.folder)

    def _await(self, cluster: Running, children: dict[str, processes.Child]) -> None:
        """Wait until all workers are registered and the scheduler decides.

        The children are asked, not the list of processes: right after its start a process has no command line yet.
        """
        deadline = time.monotonic() + START_S
        while not (ready(cluster) and _get(cluster.endpoint, "/healthz") is not None):
            dead = [role for role, child in children.items() if child.poll() is not None]
            if dead:
                raise SlaqError(f"the {dead[0]} did not start; the end of {self._tail_of(dead[0])}")
            if time.monotonic() > deadline:
                late = "scheduler" if ready(cluster) else "master"
                raise SlaqError(f"the {late} was not ready after {START_S:.0f} s; the end of {self._tail_of(late)}")
            time.sleep(0.1)

    def _tail_of(self, role: str) -> str:
        log = self.logs / f"{role}.log"
        return f"{log}:\n{_tail(log)}"

    def _write_conf(self, cluster: Running) -> None:
        spec = cluster.spec
        self.conf.mkdir(parents=True, exist_ok=True)
        settings: dict[str, str] = {
            "spark.master": cluster.master,
            "spark.driver.host": HOST,
            "spark.driver.bindAddress": HOST,
            "spark.cores.max": str(spec.capacity),
            "spark.executor.cores": str(spec.cores),
            "spark.executor.memory": spec.memory,
            "spark.slaq.endpoint": cluster.endpoint,
            **launch_conf(),
        }
        lines = "".join(f"{name} {value}\n" for name, value in settings.items())
        (self.conf / "spark-defaults.conf").write_text(f"# Written by `slaq cluster up`.\n{lines}", "utf-8")
        (self.conf / "slaq.toml").write_text(
            "# Written by `slaq cluster up`.\n"
            f"endpoint = {literal(cluster.endpoint)}\n\n"
            "[scheduler]\n"
            f"port = {spec.scheduler_port}\n"
            f"state_dir = {literal(str(self.folder / 'state'))}\n"
            f"epoch_s = {literal(spec.epoch_s)}\n"
            f"lease_s = {literal(max(10.0, 3 * spec.epoch_s))}\n"
            f"policy = {literal(spec.policy)}\n"
            f"capacity = {spec.capacity}\n",
            "utf-8",
        )


def master_facts(cluster: Running) -> dict[str, Any] | None:
    """What the master's web page says, or None if it does not answer."""
    body = _get(cluster.web, "/json/")
    try:
        facts: dict[str, Any] | None = None if body is None else json.loads(body)
    except ValueError:
        return None
    return facts


def ready(cluster: Running) -> bool:
    """Whether all workers are registered with the master."""
    facts = master_facts(cluster)
    return facts is not None and facts.get("aliveworkers") == cluster.spec.workers


def _get(address: str, path: str) -> bytes | None:
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

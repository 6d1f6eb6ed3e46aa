"""What the tests of the scheduler share: a scheduler on a clock of our own, and one in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

from slaq.config import Config, LimitsConfig, RetentionConfig, SchedulerConfig, UserConfig
from slaq.engine import Effect, State
from slaq.engine.log import Epoch, read, replayed
from slaq.protocol import PROTOCOL, Answer, Beat, Declaration, Ended, JobBeat, Report
from slaq.scheduler.core import Scheduler

APP = "app0001"


def make_config(
    users: dict[str, UserConfig] | None = None,
    limits: LimitsConfig | None = None,
    retention: RetentionConfig | None = None,
    token_file: str = "",
    **scheduler,
) -> Config:
    scheduler = {"capacity": 8, "epoch_s": 1.0, "lease_s": 5.0} | scheduler
    return Config(
        scheduler=SchedulerConfig(**scheduler),
        users=users or {},
        limits=limits or LimitsConfig(),
        retention=retention or RetentionConfig(),
        token_file=token_file,
    )


class Bench:
    """A scheduler whose clock only moves when told, and agents that say what they are told."""

    def __init__(self, config: Config | None = None, archive=None, incarnation: int = 1) -> None:
        self.now = 100.0
        self.config = config or make_config()
        self.scheduler = Scheduler(
            self.config, archive, incarnation=incarnation, clock=lambda: self.now, wall=lambda: 1e9 + self.now
        )
        self.seq = 0

    def beat(self, *jobs: JobBeat, app: str = APP, user: str = "alice", as_user: str | None = None, **rest) -> Answer:
        self.seq += 1
        rest = {"seq": self.seq, "user": user} | rest
        return self.scheduler.beat(Beat(PROTOCOL, app, jobs=list(jobs), **rest), as_user)

    def epoch(self, seconds: float = 1.0) -> None:
        self.now += seconds
        self.scheduler.decide()

    def grants(self, app: str = APP, user: str = "alice", jobs: tuple[str, ...] = ()) -> dict[str, float]:
        return self.beat(*(JobBeat(job) for job in jobs), app=app, user=user).grants


def job(job_id: str = "1", *losses: float, first: int = 0, ended: str | None = None, **declared) -> JobBeat:
    """A message that declares a job."""
    return JobBeat(
        job_id, Declaration(**declared), first, [Report(loss) for loss in losses], Ended(ended) if ended else None
    )


def again(job_id: str = "1", *losses: float, first: int = 0, ended: str | None = None) -> JobBeat:
    """A message about a job that is known."""
    return JobBeat(job_id, None, first, [Report(loss) for loss in losses], Ended(ended) if ended else None)


def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def replay(file: Path) -> Iterator[tuple[Epoch, State, list[Effect]]]:
    """Every epoch of a decision log with the state after it and what the engine decides now."""
    with file.open("rb") as source:
        yield from replayed(*read(source, str(file)))


class Process:
    """A real `slaq scheduler` with short epochs and leases; one that stands by has a port once it `took_over`."""

    LEASE_S = 1.0

    def __init__(
        self,
        folder: Path,
        port: int = 0,
        program: str | None = None,
        file_limit: int | None = None,
        standby: bool = False,
        **flags,
    ):
        flags = {"epoch_s": 0.1, "lease_s": self.LEASE_S, "capacity": 8, "state_dir": folder / "state"} | flags
        options = [str(part) for name, value in flags.items() for part in (f"--{name.replace('_', '-')}", value)]
        start = ["-c", program] if program else ["-m", "slaq.cli"]
        command = [sys.executable, *start, "scheduler", "--port", str(port), *["--standby"] * standby, *options]
        if file_limit is not None:
            command = ["prlimit", f"--fsize={file_limit}", *command]
        self.log = (folder / "scheduler.log").open("a+")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SLAQ_")}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self.log, text=True, env=environment, cwd=folder
        )
        if standby:
            assert "stands by" in self.process.stdout.readline(), self.errors()
        else:
            self.took_over()

    def took_over(self) -> None:
        """Wait until it is the scheduler of its folder."""
        said = self.process.stdout.readline()
        assert "listens on" in said, self.errors()
        self.port = int(said.rpartition(":")[2])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def errors(self) -> str:
        self.log.seek(0)
        return self.log.read()

    def get(self, path: str) -> dict:
        with urllib.request.urlopen(self.url + path, timeout=5) as response:
            return json.load(response)

    def jobs(self, **query: str) -> dict[str, dict]:
        text = "&".join(f"{name}={value}" for name, value in query.items())
        return {found["id"]: found for found in self.get(f"/v1/jobs?{text}")["jobs"]}

    def patch(self, key: str, **change) -> dict:
        request = urllib.request.Request(
            f"{self.url}/v1/jobs/{key}",
            json.dumps(change).encode(),
            {"Content-Type": "application/json"},
            method="PATCH",
        )
        with urllib.request.urlopen(request, timeout=5) as response:
            return json.load(response)

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.kill()
        self.log.close()

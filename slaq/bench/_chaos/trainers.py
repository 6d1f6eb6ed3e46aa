"""Applications with real agents and training that only sleeps: fast with many cores, slow with few.

Run as a program: `python -m slaq.bench._chaos.trainers ENDPOINT TOKEN_FILE JOURNAL STOP APP…`. Every application
trains one job after the other until the file STOP is there. Whatever happens goes into the journal, a line of
JSON each, before anything follows from it: it also tells what a process knew that was killed.
"""

import json
import os
import sys
import threading
import time
import zlib
from functools import partial
from pathlib import Path

from slaq.agent import Agent, Failover, Hooks, Http
from slaq.config import read_token
from slaq.protocol import Declaration

FULL_CORES = 4.0
STEP_S = 0.02
ITERATIONS_PER_S = 100.0
"""At full speed."""
TIMEOUT_S = 0.5
CLOSE_S = 20.0
_PRIME = 2_147_483_647


def iterations_of(app: str, number: int) -> int:
    """How long a job trains."""
    return 20 + zlib.crc32(f"{app}-{number}".encode()) % 60


def loss_of(app: str, number: int, iteration: int) -> float:
    """The loss of an iteration; no two jobs have the same one."""
    return 1.0 / (1 + iteration) + zlib.crc32(f"{app}-{number}".encode()) * 1e-14


def step(model: int, iteration: int) -> int:
    """What an iteration makes of the model."""
    return (model * 48_271 + iteration) % _PRIME


def model_of(iterations: int) -> int:
    """The model after so many iterations, whatever happened meanwhile."""
    model = 1
    for iteration in range(iterations):
        model = step(model, iteration)
    return model


class Journal:
    """A file that every line reaches at once."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(self, what: str, app: str, *rest: object) -> None:
        """Add a line."""
        os.write(self._file, json.dumps([time.monotonic(), what, app, *rest]).encode() + b"\n")


class Application:
    """One application; it keeps its jobs to their cores as a driver does."""

    def __init__(self, app: str, endpoint: str, token_file: str, journal: Journal) -> None:
        self.app, self._journal = app, journal
        self._job = ""
        self._cores: float | None = None
        self._granted: tuple[dict[str, float], float | None] | None = None
        """The latest answer's grants and total; None: no lease is in force."""
        self._lock = threading.Lock()
        hooks = Hooks(self._grants, self._open, cores=lambda: FULL_CORES)
        transport = Failover([Http(endpoint, partial(read_token, token_file), timeout_s=TIMEOUT_S)])
        self._agent = Agent(transport, hooks, name="chaos", user="alice", app=app)

    def train(self, number: int) -> None:
        """One job, from its beginning to its end."""
        job, iterations = str(number), iterations_of(self.app, number)
        with self._lock:
            self._job = job
            self._journal.write("begin", self.app, job, iterations)
            self._agent.begin(job, Declaration(f"job {job}", "Chaos", max_cores=FULL_CORES, max_iterations=iterations))
            self._follow()
        model, made, done = 1, 0, 0.0
        before = time.monotonic()
        while made < iterations:
            time.sleep(STEP_S)
            now = time.monotonic()
            speed = 1.0 if self._cores is None else min(self._cores / FULL_CORES, 1.0)
            done += (now - before) * speed * ITERATIONS_PER_S
            before = now
            while made < min(done, iterations):
                model = step(model, made)
                self._journal.write("report", self.app, job, made)
                self._agent.report(job, loss_of(self.app, number, made), made)
                made += 1
        with self._lock:
            self._job = ""
            self._journal.write("end", self.app, job, model)
            self._agent.end(job)

    def close(self) -> None:
        """Leave, when the scheduler has everything."""
        self._agent.close(CLOSE_S)
        self._journal.write("closed", self.app, self._agent.dropped)

    def _grants(self, cores: dict[str, float], _lease_s: float, total: float | None, *_: object) -> None:
        with self._lock:
            self._journal.write("renewed", self.app)
            self._granted = cores, total
            self._follow()

    def _open(self) -> None:
        with self._lock:
            self._journal.write("opened", self.app)
            self._granted = None
            self._follow()

    def _follow(self) -> None:
        """A job that is not decided yet has what the others leave of the total."""
        cores: float | None = None
        if self._granted is not None:
            grants, total = self._granted
            cores = grants.get(self._job, None if total is None else max(total - sum(grants.values()), 0.0))
        self._cores = cores
        if self._job:
            self._journal.write("cores", self.app, self._job, cores)


def _run(application: Application, stop: Path) -> None:
    number = 0
    while not stop.exists():
        number += 1
        application.train(number)
    application.close()


def main() -> None:
    """See the module."""
    endpoint, token_file, journal, stop, *apps = sys.argv[1:]
    file = Journal(journal)
    applications = [Application(app, endpoint, token_file, file) for app in apps]
    threads = [threading.Thread(target=_run, args=(each, Path(stop))) for each in applications]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()

"""Kill schedulers at random moments while another stands by: `python -m tests.scheduler.random_kills KILLS SEED`.

Three applications report the losses of jobs that come and go. In the end every job's curve must be whole, and after no
kill may an application have been without valid grants for longer than a lease before its jobs ran unthrottled.
"""

import json
import random
import socket
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from slaq.agent import Agent, Failover, Hooks, Http
from slaq.scheduler.store.database import Database
from tests.scheduler.support import Process, until

APPLICATIONS, JOBS_AT_ONCE = 3, 2
LEASE_S = Process.LEASE_S
SLACK_S = 0.5
"""What a busy machine may add to a timer."""
REPORT_S = 0.02
LONGEST_JOB = 60
"""Reports of a job: fewer than the scheduler keeps of a curve."""
TAKE_OVER_S = 60.0


@dataclass
class Seen:
    """What came of it."""

    jobs: int = 0
    reports: int = 0
    dropped: int = 0
    wrong: list[str] = field(default_factory=list)
    """Jobs whose curve at the end is not what they reported, once and in order."""
    without_s: list[float] = field(default_factory=list)
    """For each kill, the longest time until an application got new grants or ran unthrottled."""
    away_s: list[float] = field(default_factory=list)
    """For each kill, the time until another scheduler had taken over."""


class Application:
    """An agent with jobs that come and go, and the moments at which its hooks were called."""

    def __init__(self, number: int, ports: list[int], seed: int) -> None:
        self._chance = random.Random(f"{seed} {number}")
        self._told: list[float] = []
        transport = Failover([Http(f"http://127.0.0.1:{port}", timeout_s=1.0) for port in ports])
        hooks = Hooks(grants=lambda *_: self._tell(), open=self._tell, cores=lambda: 4.0)
        self.agent = Agent(transport, hooks, user=f"user{number}")
        self.made: dict[str, int] = {}
        self._alive: dict[str, int] = {}
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _tell(self) -> None:
        self._told.append(time.monotonic())

    def _work(self) -> None:
        while not self._done.wait(REPORT_S):
            while len(self._alive) < JOBS_AT_ONCE:
                job = str(len(self.made))
                self._alive[job] = self._chance.randrange(1, LONGEST_JOB)
                self.made[job] = 0
                self.agent.begin(job)
            for job in list(self._alive):
                self.agent.report(job, 1.0 / (1 + self.made[job]), self.made[job])
                self.made[job] += 1
                if self.made[job] == self._alive[job]:
                    del self._alive[job]
                    self.agent.end(job)

    def first_told(self, after_s: float) -> float | None:
        """When a hook was first called after that moment."""
        return next((at_s for at_s in list(self._told) if at_s > after_s), None)

    def finish(self) -> None:
        """End all jobs; may be called again."""
        self._done.set()
        self._thread.join()
        for job in self._alive:
            self.agent.end(job)
        self._alive.clear()


def kill_at_random(folder: Path, kills: int, seed: int) -> Seen:
    """So many kills, each at a random moment after the one that takes over has begun to stand by."""
    chance, seen = random.Random(seed), Seen()
    ports = [free_port(), free_port()]
    working = Process(folder, port=ports[0])
    applications = [Application(number, ports, seed) for number in range(APPLICATIONS)]
    try:
        for kill in range(kills):
            standby = Process(folder, port=ports[(kill + 1) % 2], standby=True)
            until(lambda: all(app.agent.connected for app in applications))
            time.sleep(chance.uniform(0.0, 1.0))
            killed_s = time.monotonic()
            working.kill()
            working.log.close()
            standby.took_over()
            seen.away_s.append(time.monotonic() - killed_s)
            working = standby
            until(lambda at_s=killed_s: all(app.first_told(at_s) is not None for app in applications), TAKE_OVER_S)
            seen.without_s.append(max(app.first_told(killed_s) - killed_s for app in applications))
        for app in applications:
            app.finish()
        seen.jobs = sum(len(app.made) for app in applications)
        until(lambda: _finished(working) == seen.jobs, TAKE_OVER_S)
    finally:
        for app in applications:
            app.finish()
            app.agent.close()
        working.close()
    _check(Database(folder / "state" / "history.db"), applications, seen)
    return seen


def _finished(scheduler: Process) -> int:
    time.sleep(0.2)  # requests are limited
    return int(scheduler.get("/v1/status")["jobs"].get("finished", 0))


def _check(history: Database, applications: list[Application], seen: Seen) -> None:
    for app in applications:
        seen.dropped += app.agent.dropped
        for job, made in app.made.items():
            seen.reports += made
            row = history.load(f"{app.agent.app}-{job}")
            kept = [] if row is None else [int(iteration) for _, iteration, _ in row.body.losses]
            if kept != list(range(made)):
                seen.wrong.append(f"{app.agent.app}-{job}: {made} reports made, {len(kept)} kept")
    history.close()


def free_port() -> int:
    """A port of the loopback on which nothing listens at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="slaq-kills-") as folder:
        print(json.dumps(asdict(kill_at_random(Path(folder), int(sys.argv[1]), int(sys.argv[2])))))

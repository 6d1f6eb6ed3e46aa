"""A second scheduler stands by: it takes over when the first is gone, and no report is lost or counted twice."""

import random
import socket
import subprocess
import sys
import time
from functools import partial

import pytest

from slaq.agent import Agent, Failover, Hooks, Http, UnreachableError
from slaq.protocol import PROTOCOL, Answer, Beat
from tests.scheduler.support import Process, until


class StandBy(Process):
    """A `slaq scheduler --standby`; `port` is known once it has taken over."""

    def __init__(self, folder, **flags):
        flags = {"epoch_s": 0.1, "lease_s": self.LEASE_S, "capacity": 8, "state_dir": folder / "state"} | flags
        options = [str(part) for name, value in flags.items() for part in (f"--{name.replace('_', '-')}", value)]
        self.log = (folder / "standby.log").open("a+")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "slaq.cli", "scheduler", "--standby", *options],
            stdout=subprocess.PIPE, stderr=self.log, text=True, cwd=folder,
        )  # fmt: skip
        assert "stands by" in self.process.stdout.readline(), self.errors()

    def took_over(self) -> None:
        said = self.process.stdout.readline()
        assert "listens on" in said, self.errors()
        self.port = int(said.rpartition(":")[2])


def has_all(scheduler: Process, made: int) -> bool:
    return [job["reports"] for job in scheduler.jobs().values()] == [made]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_reports_of_a_job_survive_many_kills_whole_and_single(tmp_path):
    ports = [free_port(), free_port()]
    working: Process = Process(tmp_path, port=ports[0])
    transport = Failover([Http(f"http://127.0.0.1:{port}", timeout_s=1.0) for port in ports])
    agent = Agent(transport, Hooks(lambda *_: None, lambda: None, cores=lambda: 8.0), user="alice")
    chance, made, longest_s = random.Random(7), 0, 0.0
    agent.begin("1")
    try:
        for kill in range(4):
            standby = StandBy(tmp_path, port=ports[(kill + 1) % 2])
            until(lambda: agent.connected)
            for _ in range(chance.randrange(5, 40)):
                agent.report("1", 1.0 / (1 + made), made)
                made += 1
                time.sleep(0.01)
            working.kill()
            killed_s = time.monotonic()
            agent.report("1", 1.0 / (1 + made), made)
            made += 1
            standby.took_over()
            working = standby
            until(partial(has_all, working, made), 20.0)
            longest_s = max(longest_s, time.monotonic() - killed_s)
        (key,) = working.jobs()
        losses = working.get(f"/v1/jobs/{key}")["losses"]
        assert [point[1] for point in losses] == list(range(made)), "each report once, in order"
        assert agent.dropped == 0
    finally:
        agent.close()
        working.close()
    assert longest_s < 10.0, "a busy machine; the lease is 1 s"


class Scripted:
    def __init__(self, *outcomes):
        self.outcomes, self.asked, self.aborted = list(outcomes), 0, 0

    def exchange(self, _):
        self.asked += 1
        outcome = self.outcomes.pop(0) if self.outcomes else UnreachableError("gone")
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def abort(self):
        self.aborted += 1


BEAT = Beat(PROTOCOL, "app0001", 1)
ANSWER = Answer(PROTOCOL, 1, 1, 5.0, 1.0)


def test_whoever_answered_last_is_asked_first():
    first, second = Scripted(), Scripted(ANSWER, ANSWER)
    both = Failover([first, second])
    assert both.exchange(BEAT) is ANSWER
    assert both.exchange(BEAT) is ANSWER
    both.abort()
    assert (first.asked, second.asked, first.aborted, second.aborted) == (1, 2, 0, 1)


def test_if_nobody_answers_every_reason_is_told():
    both = Failover([Scripted(UnreachableError("no route")), Scripted(UnreachableError("too slow"))])
    with pytest.raises(UnreachableError, match="no route; too slow"):
        both.exchange(BEAT)

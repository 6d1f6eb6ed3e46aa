"""The driver loop between a bridge and an agent that do what the test says."""

import threading

import pytest

from slaq.config import Config
from slaq.driver.loop import DriverLoop
from slaq.errors import SlaqError
from slaq.spark.records import Counters, JobUsage, Poll

COUNTERS = Counters(
    slots=4, strict=False, rounds=0, revivals=0, leases_expired=0, gate=True, stages_tracked=0, faults={}
)


class Pools:
    def __init__(self):
        self.usages = []
        self.granted = []

    def poll(self):
        return Poll(self.usages, COUNTERS, [], {})

    def grant(self, cores, *_):
        self.granted.append(cores)
        return len(cores)


class Scribe:
    """An agent that writes down what it is told; `on_begin` is called for each job that begins."""

    def __init__(self, hooks):
        self.hooks = hooks
        self.begun = []
        self.losses = []
        self.on_begin = lambda _: None

    def begin(self, job_id, _):
        self.begun.append(job_id)
        self.on_begin(job_id)

    def report(self, job_id, loss, **_):
        self.losses.append((job_id, loss))

    def end(self, *_):
        pass

    def idle(self, *_):
        pass

    def held(self, *_):
        pass


@pytest.fixture
def mail():
    return []


@pytest.fixture
def loop(mail):
    def take():
        taken = list(mail)
        mail.clear()
        return taken

    return DriverLoop(Pools(), Scribe, Config(progress=False), "app", take)


def report(job, iteration, loss):
    return {"event": "loss", "job": job, "iteration": iteration, "value": loss, "nanos": (iteration + 1) * 10**9}


def test_a_job_that_the_agent_refuses_costs_only_itself(loop, mail, caplog):
    def refuse(job_id):
        if job_id == "bad":
            raise SlaqError("job 'bad' cannot be announced")

    loop.agent.on_begin = refuse
    mail += [{"event": "begin", "job": name, "estimator": "custom"} for name in ("bad", "good")]
    for iteration in range(2):
        mail += [report("bad", iteration, 1.0), report("good", iteration, 2.0)]
        loop.turn()
    assert loop.agent.begun == ["bad", "good"]
    assert [entry for entry in loop.agent.losses if entry[0] == "good"] == [("good", 2.0)] * 2
    assert caplog.text.count("job 'bad' cannot be announced") == 1


def test_a_grant_that_comes_while_other_work_is_announced_finds_its_pool(loop):
    grants = []

    def grant_meanwhile(job_id):
        grants.append(threading.Thread(target=loop.agent.hooks.grants, args=({job_id: 3.0}, 10.0, None, [])))
        grants[-1].start()
        grants[-1].join(0.2)  # time enough to go wrong

    loop.agent.on_begin = grant_meanwhile
    loop.bridge.usages = [JobUsage("default", running=1)]
    loop.turn()
    grants[0].join(5.0)
    assert [list(cores) for cores in loop.bridge.granted] == [["default"]]


def test_tasks_that_wait_in_the_pool_of_a_run_that_is_over_are_announced_as_other_work(loop, mail):
    mail += [{"event": "begin", "job": "own", "estimator": "custom"}, report("own", 0, 1.0)]
    mail += [{"event": "end", "job": "own", "ok": True, "nanos": 2 * 10**9}]
    loop.bridge.usages = [JobUsage("own", running=1)]
    loop.turn()
    assert loop.agent.begun == ["own"]
    loop.bridge.usages = [JobUsage("own", running=1, pending=3)]
    loop.turn()
    assert loop.agent.begun == ["own", "other-1"]

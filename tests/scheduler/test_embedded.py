"""A scheduler inside a driver."""

import subprocess
import sys
import time

from slaq.agent import Agent, Hooks
from slaq.protocol import Declaration
from slaq.scheduler.embedded import Embedded
from slaq.scheduler.query import JobQuery
from tests.scheduler.support import make_config, until

PROGRAM = """
import sys, slaq.scheduler.embedded
print(sorted({"starlette", "uvicorn", "uvloop", "prometheus_client", "pyspark"} & set(sys.modules)))
"""


def test_it_needs_the_base_install_only():
    found = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_an_agent_and_a_scheduler_in_one_process():
    embedded = Embedded(make_config(capacity="drivers", epoch_s=0.1, lease_s=0.5))
    grants: list[dict[str, float]] = []
    opened: list[bool] = []
    hooks = Hooks(lambda cores, *_: grants.append(cores), lambda: opened.append(True), cores=lambda: 4.0)
    agent = Agent(embedded.transport, hooks, name="notebook", user="me")
    agent.begin("a", Declaration("first"))
    agent.begin("b", Declaration("second"))
    for iteration in range(5):
        agent.report("a", 1.0 / (iteration + 1), iteration)
        agent.report("b", 5.0 - iteration, iteration)
    until(lambda: grants and set(grants[-1]) == {"a", "b"} and sum(grants[-1].values()) == 4.0)
    agent.end("a")
    until(lambda: grants[-1] == {"b": 4.0})
    agent.end("b")
    agent.close()
    jobs = embedded.scheduler.jobs(JobQuery()).jobs
    assert {(job.name, job.state, job.reports, job.app_name, job.user) for job in jobs} == {
        ("first", "finished", 5, "notebook", "me"),
        ("second", "finished", 5, "notebook", "me"),
    }
    assert opened == [True]
    embedded.close()


def test_when_no_decision_succeeds_agents_run_unthrottled_until_one_does(monkeypatch):
    embedded = Embedded(make_config(epoch_s=0.1, lease_s=0.5))
    grants: list[dict[str, float]] = []
    opened: list[bool] = []
    agent = Agent(embedded.transport, Hooks(lambda cores, *_: grants.append(cores), lambda: opened.append(True)))
    agent.begin("a")
    until(lambda: grants and grants[-1] == {"a": 8.0})

    def fail(*_):
        raise ZeroDivisionError

    with monkeypatch.context() as broken:
        broken.setattr(embedded.scheduler.epochs, "decide", fail)
        until(lambda: opened)
        agent.report("a", 1.0)
        seen = len(grants)
    until(lambda: len(grants) > seen and grants[-1] == {"a": 8.0})
    assert agent.dropped == 0
    agent.close()
    embedded.close()


def test_when_the_embedded_scheduler_stops_deciding_agents_beat_on():
    embedded = Embedded(make_config(epoch_s=0.1, lease_s=0.5))
    embedded.close()
    grants: list[dict[str, float]] = []
    agent = Agent(embedded.transport, Hooks(lambda cores, *_: grants.append(cores), lambda: None))
    agent.begin("a")
    time.sleep(0.3)
    assert all("a" not in cores for cores in grants)
    agent.close()

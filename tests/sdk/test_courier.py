"""The courier: what a process reports reaches the desk, whoever ends a job and whatever it is called."""

import threading
import time
from contextlib import nullcontext

import msgspec
import pytest

from slaq.sdk.courier import Courier
from slaq.driver.early import EarlyRule
from slaq.sdk.registry import Registry


class Context:
    """As much of a Spark context as a courier looks at."""

    _jsc: object = "running"


class Pools:
    """A bridge whose pools cost nothing."""

    def job(self, _):
        return nullcontext()

    def close_pool(self, _):
        pass


class Desk:
    def __init__(self):
        self.events = []

    def post(self, text):
        self.events += msgspec.json.decode(text) if text else []
        return ""

    def heard(self, *kinds, of):
        """Wait until so much was heard of a job."""
        end = time.monotonic() + 5.0
        while (found := [event["event"] for event in self.events if event["job"] == of]) != list(kinds):
            assert time.monotonic() < end, f"heard only {found}"
            time.sleep(0.02)


@pytest.fixture
def desk():
    return Desk()


@pytest.fixture
def registry(desk):
    context, found = Context(), Registry()
    found.host = Courier(context, desk, Pools(), EarlyRule(), found)
    yield found
    context._jsc = None


def report(registry, name, *losses):
    job = registry.begin(name, True)
    for loss in losses:
        job.add(loss, None, {})
    return job


def test_a_job_that_ends_with_its_thread_is_told_of(registry, desk):
    thread = threading.Thread(target=report, args=(registry, "worker", 1.0))
    thread.start()
    thread.join()
    desk.heard("begin", "loss", "end", of="worker")
    report(registry, "next", 2.0)
    desk.heard("begin", "loss", of="next")


def test_a_job_that_falls_silent_is_told_of(registry, desk):
    report(registry, "silent", 1.0).latest -= 3600.0
    desk.heard("begin", "loss", "end", of="silent")


def test_many_that_end_at_once_are_told_of(registry, desk):
    threads = [threading.Thread(target=report, args=(registry, f"w{number}", 1.0)) for number in range(400)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(400):
        desk.heard("begin", "loss", "end", of=f"w{number}")


def test_names_and_errors_that_no_message_can_carry_cost_nobody_a_report(registry, desk):
    job = registry.begin("night \ud800", False)
    job.add(1.0, None, {})
    registry.end(job, ValueError("\udfff"))
    desk.heard("begin", "loss", "end", of="night")
    assert desk.events[0]["name"] == "night ?"
    assert desk.events[-1]["error"] == "ValueError: ?"

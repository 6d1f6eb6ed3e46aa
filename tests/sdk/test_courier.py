"""The courier: what a process reports reaches the desk once, whoever ends a job and whatever fails on the way."""

import threading
import time
from contextlib import nullcontext

import msgspec
import pytest

from slaq.driver.board import Board
from slaq.driver.early import EarlyRule
from slaq.records import Standing
from slaq.sdk.courier import Courier
from slaq.sdk.registry import Registry
from slaq.sdk.reported import Declared
from slaq.spark.records import Begin, End, FitEvent, Loss


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
    """Takes letters as the one in the JVM does; posts fail on their way there (`down`) or back (`deaf`)."""

    def __init__(self):
        self.events: list[FitEvent] = []
        self.latest = 0
        self.board = ""
        self.down = self.deaf = False
        self.failed = 0

    def post(self, last, text):
        if self.down:
            self.failed += 1
            raise ConnectionError("the desk is away")
        if text and last > self.latest:
            self.latest = last
            self.events += msgspec.json.decode(text, type=list[FitEvent])
        if self.deaf:
            self.failed += 1
            raise ConnectionError("the answer got lost")
        return self.board

    def heard(self, *kinds, of):
        """Wait until exactly these events have arrived of a job; whatever arrives twice counts once."""
        until(lambda: self._of(of) == list(kinds))

    def _of(self, job):
        once = {event.seq: event for event in self.events if event.job == job}
        return [type(event) for _, event in sorted(once.items())]


def until(condition, seconds=5.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


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
    job = registry.begin(Declared(name, inferred=True))
    for loss in losses:
        job.add(loss, None, {})
    return job


def test_a_job_that_ends_with_its_thread_is_told_of(registry, desk):
    thread = threading.Thread(target=report, args=(registry, "worker", 1.0))
    thread.start()
    thread.join()
    desk.heard(Begin, Loss, End, of="worker")
    report(registry, "next", 2.0)
    desk.heard(Begin, Loss, of="next")


def test_a_job_that_falls_silent_is_told_of(registry, desk):
    report(registry, "silent", 1.0).latest -= 3600.0
    desk.heard(Begin, Loss, End, of="silent")


def test_many_that_end_at_once_are_told_of(registry, desk):
    threads = [threading.Thread(target=report, args=(registry, f"w{number}", 1.0)) for number in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(200):
        desk.heard(Begin, Loss, End, of=f"w{number}")


@pytest.mark.parametrize("fault", ["down", "deaf"])
def test_a_failed_post_loses_nothing_and_doubles_nothing(registry, desk, fault, caplog):
    setattr(desk, fault, True)
    job = report(registry, "a", 3.0, 2.0)
    until(lambda: desk.failed > 2)
    job.add(1.0, None, {})
    setattr(desk, fault, False)
    registry.end(job)
    desk.heard(Begin, Loss, Loss, Loss, End, of="a")
    numbered = {event.seq: event for event in desk.events}
    assert [event.value for event in numbered.values() if isinstance(event, Loss)] == [3.0, 2.0, 1.0]
    assert caplog.text.count("reports do not reach the plugin's agent") == 1
    until(lambda: registry.read() == [])


def test_the_board_tells_who_should_end_and_how_far_each_has_come(registry, desk):
    job = report(registry, "a", 3.0)
    standing = Standing(0.5, 2.0, 4.0, 30.0)
    desk.board = msgspec.json.encode(Board(1e18, [], ["a"], {"a": standing}, ["a"])).decode()
    until(lambda: job.host.cancelled("a"))
    assert job.host.stopping("a")
    assert not job.host.stopping("b")
    assert job.host.standing("a") == standing
    assert job.host.standing("b") is None


def test_names_and_errors_that_no_message_can_carry_cost_nobody_a_report(registry, desk):
    job = registry.begin(Declared("night \ud800"))
    job.add(1.0, None, {})
    registry.end(job, ValueError("\udfff"))
    desk.heard(Begin, Loss, End, of="night")
    assert desk.events[0].name == "night ?"
    assert desk.events[-1].error == "ValueError: ?"

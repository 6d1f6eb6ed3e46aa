"""The driver loop between a bridge and an agent that do what the test says."""

import threading
import time

import pytest

from slaq.config import Config
from slaq.driver import loop as loop_module
from slaq.driver import notices
from slaq.driver.loop import DriverLoop, finished_fits
from slaq.errors import SlaqError
from slaq.protocol import Standing
from slaq.spark.records import Begin, Counters, End, JobUsage, Loss, Poll

COUNTERS = Counters(
    slots=4, strict=False, rounds=0, revivals=0, leases_expired=0, gate=True, stages_tracked=0, faults={}
)


class Pools:
    """A bridge: keeps its events until they are acknowledged; `broken` polls fail."""

    def __init__(self):
        self.usages = []
        self.granted = []
        self.events = []
        self.broken = 0
        self.polls = 0
        self.acked = 0
        self.watched = False
        self.shown = []

    def poll(self, acked=0, max_events=0):  # noqa: ARG002
        self.polls += 1
        self.acknowledge(acked)
        if self.broken:
            self.broken -= 1
            raise ConnectionError("no gateway")
        complete = self.events[-1].seq if self.events else 0
        return Poll(self.usages, COUNTERS, list(self.events), complete, watched=self.watched)

    def show(self, text):
        self.shown.append(text)

    def acknowledge(self, acked):
        self.acked = max(self.acked, acked)
        self.events = [event for event in self.events if event.seq > acked]

    def grant(self, cores, *_):
        self.granted.append(cores)
        return len(cores)


class Scribe:
    """An agent that writes down what it is told; `on_begin` is called for each job that begins."""

    def __init__(self, hooks):
        self.hooks = hooks
        self.begun = []
        self.losses = []
        self.ended = []
        self.on_begin = lambda _: None
        self.on_end = lambda _: None

    def begin(self, job_id, _):
        self.begun.append(job_id)
        self.on_begin(job_id)

    def report(self, job_id, loss, *_):
        self.losses.append((job_id, loss))

    def end(self, job_id, _="finished"):
        self.on_end(job_id)
        self.ended.append(job_id)

    def idle(self, *_):
        pass

    def held(self, *_):
        pass

    def close(self, timeout_s):
        pass


class Mail(list):
    """A mailbox; it gives everything again until it is acknowledged."""

    latest = 0

    def read(self):
        return list(self)

    def acknowledge(self, seq):
        self[:] = [event for event in self if event.seq > seq]

    def add(self, kind, *arguments, **more):
        self.latest += 1
        self.append(kind(self.latest, *arguments, **more))


@pytest.fixture
def mail():
    return Mail()


@pytest.fixture
def loop(mail):
    return DriverLoop(Pools(), Scribe, Config(progress=False), "app", mail)


def report(mail, job, iteration, loss):
    mail.add(Loss, job, iteration, loss, nanos=(iteration + 1) * 10**9)


def test_a_job_that_the_agent_refuses_costs_only_itself(loop, mail, caplog):
    def refuse(job_id):
        if job_id == "bad":
            raise SlaqError("job 'bad' cannot be announced")

    loop.agent.on_begin = refuse
    for name in ("bad", "good"):
        mail.add(Begin, name, "custom")
    for iteration in range(2):
        report(mail, "bad", iteration, 1.0)
        report(mail, "good", iteration, 2.0)
        loop.turn()
    assert loop.agent.begun == ["bad", "good"]
    assert [entry for entry in loop.agent.losses if entry[0] == "good"] == [("good", 2.0)] * 2
    assert caplog.text.count("job 'bad' cannot be announced") == 1


def test_members_of_a_group_are_told_apart_and_stay_a_group_when_their_owner_or_one_of_them_is_gone(loop):
    def fit(seq, job, reg):
        return Begin(seq, job, "KMeans", uid="KMeans_1", params={"regParam": reg}, parent="search")

    loop.bridge.events = [
        Begin(1, "search", "CrossValidator", uid="CrossValidator_1", wrapper=True),
        fit(2, "fit-1", 0.1),
        fit(3, "fit-2", 0.2),
        End(4, "search", ok=False),
        End(5, "fit-1", ok=False),
    ]
    loop.turn()
    assert [(job.name, job.group, job.state) for job in loop.statuses()] == [
        ("KMeans_1 (regParam=0.1)", "CrossValidator_1", "failed"),
        ("KMeans_1 (regParam=0.2)", "CrossValidator_1", "running"),
    ]


def test_a_job_whose_report_fails_costs_only_itself_and_is_tried_again(loop, mail, caplog):
    failing = {"bad"}

    def fail(job_id):
        if job_id in failing:
            raise RuntimeError("boom")

    loop.agent.on_begin = loop.agent.on_end = fail
    for name in ("bad", "good"):
        mail.add(Begin, name, "custom")
        report(mail, name, 0, 1.0)
        mail.add(End, name)
    loop.turn()
    assert (loop.agent.losses, loop.agent.ended) == ([("good", 1.0)], ["good"])
    failing.clear()
    loop.turn()
    assert loop.agent.losses == [("good", 1.0), ("bad", 1.0)]
    assert loop.agent.ended == ["good", "bad"]
    assert caplog.text.count("could not be reported") == 1


def test_a_poll_after_which_the_turn_fails_comes_again_and_counts_once(loop, mail, monkeypatch):
    loop.bridge.events = [Begin(1, "fit-1"), Loss(2, "fit-1", 0, 5.0), End(3, "fit-1")]
    monkeypatch.setattr(mail, "read", lambda: 1 / 0, raising=False)
    with pytest.raises(ZeroDivisionError):
        loop.turn()
    monkeypatch.undo()
    loop.turn()
    assert (loop.agent.losses, loop.agent.ended) == ([("fit-1", 5.0)], ["fit-1"])
    loop.bridge.events = [Begin(1, "fit-1"), Loss(2, "fit-1", 0, 5.0), End(3, "fit-1"), Begin(4, "fit-2")]
    loop.turn()
    assert (loop.agent.losses, loop.agent.ended) == ([("fit-1", 5.0)], ["fit-1"])
    assert loop.bridge.events == [Begin(4, "fit-2")]


def test_an_event_that_breaks_its_handling_costs_itself_only_and_is_counted(loop, caplog, monkeypatch):
    class Broken(loop_module.TrackedJob):
        def loss(self, event):
            if event.iteration == 1:
                raise ValueError("poison")
            super().loss(event)

    monkeypatch.setattr(loop_module, "TrackedJob", Broken)
    loop.bridge.events = [Begin(1, "fit-1"), *(Loss(2 + k, "fit-1", k, float(k)) for k in range(3)), End(5, "fit-1")]
    loop.turn()
    loop.turn()
    assert loop.agent.losses == [("fit-1", 0.0), ("fit-1", 2.0)]
    assert loop.agent.ended == ["fit-1"]
    assert notices.counts()["event"] == 1
    assert caplog.text.count("an event of job fit-1 was skipped") == 1


def test_the_loop_backs_off_and_comes_back(loop, mail, caplog, monkeypatch):
    monkeypatch.setattr(loop_module, "IDLE_TURN_S", 0.001)
    loop.bridge.broken = 8
    mail.add(Begin, "own", "custom")
    report(mail, "own", 0, 1.0)
    loop.start()
    until(lambda: loop.agent.losses)
    mail.add(End, "own")
    until(lambda: loop.agent.ended)
    loop.stop()
    assert loop.agent.losses == [("own", 1.0)]
    assert caplog.text.count("the driver loop keeps failing") == 1
    assert caplog.text.count("is back after 8 failed turns") == 1


def test_pauses_between_failing_turns_double_up_to_a_few_seconds(loop):
    pauses = [loop._pause_s(failures) for failures in range(12)]
    assert pauses[:3] == [0.25, 0.5, 1.0]
    assert pauses[-1] == loop_module.LONGEST_TURN_S


def test_the_last_turn_acknowledges_what_it_applied(loop):
    loop.bridge.events = [Begin(1, "fit-1"), Loss(2, "fit-1", 0, 5.0), End(3, "fit-1")]
    loop.start()
    loop.stop()
    assert loop.agent.ended == ["fit-1"]
    assert loop.bridge.events == []


def test_fits_that_were_over_before_are_left_alone_those_under_way_are_followed(mail):
    bridge = Pools()
    bridge.events = [
        Begin(1, "fit-1"), Loss(2, "fit-1", 0, 5.0), End(3, "fit-1"), Begin(4, "fit-2"), Loss(5, "fit-2", 0, 6.0)
    ]  # fmt: skip
    loop = DriverLoop(bridge, Scribe, Config(progress=False), "app", mail, past=finished_fits(bridge))
    loop.turn()
    assert loop.agent.losses == [("fit-2", 6.0)]


def test_standings_reach_the_status_and_go_with_the_scheduler(loop, mail):
    mail.add(Begin, "own", "custom")
    report(mail, "own", 0, 1.0)
    loop.turn()
    loop.agent.hooks.standings({"own": Standing(0.8, 2.0, 5.0, 40.0)})
    assert loop.statuses()[0].reached == 0.8
    assert loop.standing("own").to_95 == 5.0
    loop.agent.hooks.open()
    assert loop.standing("own") is None


def test_the_last_usage_of_a_pool_reaches_the_job_that_is_over(loop):
    loop.bridge.events = [Begin(1, "fit-1"), Loss(2, "fit-1", 0, 5.0), End(3, "fit-1")]
    loop.turn()
    loop.bridge.usages = [JobUsage("fit-1", cpu_s=1.5, ended=True, seq=4)]
    loop.turn()
    assert loop.statuses()[0].cpu_s == 1.5


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
    mail.add(Begin, "own", "custom")
    report(mail, "own", 0, 1.0)
    mail.add(End, "own", nanos=2 * 10**9)
    loop.bridge.usages = [JobUsage("own", running=1)]
    loop.turn()
    assert loop.agent.begun == ["own"]
    loop.bridge.usages = [JobUsage("own", running=1, pending=3)]
    loop.turn()
    assert loop.agent.begun == ["own", "other-1"]


def until(condition, seconds=5.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def test_the_tab_in_sparks_ui_is_told_while_somebody_looks(loop, mail):
    mail.add(Begin, "a", estimator="KMeans", name="mine")
    loop.turn()
    assert loop.bridge.shown == []
    loop.bridge.watched = True
    loop.turn()
    loop.turn()
    assert loop.bridge.shown == ["\nmine\trunning\t\t\tall\t\n"]

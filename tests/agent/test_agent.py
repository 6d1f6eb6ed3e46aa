"""The agent: reports up, grants down, full speed without a scheduler."""

import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest

from slaq.agent import Agent, Direct, Hooks, RefusedError, RejectedError, UnreachableError
from slaq.agent.agent import ENDED_KEPT
from slaq.errors import SlaqError
from slaq.protocol import PROTOCOL, Answer, Beat, Declaration, Report, Standing
from slaq.protocol.beat import MAX_JOBS, MAX_REPORTS


class Script:
    """A scheduler that is told what to answer, and a holder of cores that notes what it is told."""

    def __init__(self, **answer):
        self.beats: list[Beat] = []
        self.answer = answer
        self.failure: Exception | None = None
        self.before: Callable[[Beat], None] = lambda _: None
        """Called with every beat; may change the answer."""
        self.grants: list[dict[str, float]] = []
        self.opened = 0
        self.cancelled: list[str] = []
        self.hooks = Hooks(lambda cores, *_: self.grants.append(cores), self._open, self.cancelled.append, lambda: 8.0)

    def _open(self):
        self.opened += 1

    def exchange(self, beat: Beat) -> Answer:
        self.beats.append(beat)
        self.before(beat)
        if self.failure:
            raise self.failure
        defaults = {
            "protocol": PROTOCOL, "incarnation": 5, "epoch": 1, "lease_s": 5.0, "next_beat_s": 0.05,
            "grants": {job.id: 2.0 for job in beat.jobs}, "saved": [job.id for job in beat.jobs if job.ended],
        }  # fmt: skip
        return Answer(**(defaults | self.answer))

    def abort(self) -> None:
        pass


@pytest.fixture
def started():
    agents = []

    def start(script, **options):
        agent = Agent(script, script.hooks, **options)
        agents.append(agent)
        return agent

    yield start
    for agent in agents:
        agent.close(0.1)


def until(condition, seconds=5.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def reports_of(script, job="a"):
    return [report for beat in script.beats for message in beat.jobs if message.id == job for report in message.reports]


def test_a_job_is_declared_once_reports_once_and_gets_its_grant(started):
    script = Script()
    agent = started(script, name="my app", user="alice")
    agent.begin("a", Declaration("fit", "KMeans", weight=2.0))
    for i in range(5):
        agent.report("a", 1.0 / (i + 1), i, work_core_s=0.2, serial_s=0.1)
    until(lambda: len(reports_of(script)) == 5 and len(script.beats) > 3)
    declared = [message.declared for beat in script.beats for message in beat.jobs if message.declared]
    assert declared == [Declaration("fit", "KMeans", weight=2.0)]
    assert reports_of(script) == [Report(1.0 / (i + 1), i, 0.2, 0.1) for i in range(5)]
    assert script.grants[-1] == {"a": 2.0}
    assert agent.connected
    first = script.beats[0]
    assert (first.app, first.name, first.user, first.cores) == (agent.app, "my app", "alice", 8.0)
    assert [beat.seq for beat in script.beats] == list(range(1, len(script.beats) + 1))


def test_a_job_that_begins_is_announced_at_once(started):
    script = Script(next_beat_s=30.0)
    agent = started(script)
    until(lambda: script.beats)
    began = time.monotonic()
    agent.begin("a")
    until(lambda: script.grants and script.grants[-1])
    assert time.monotonic() - began < 0.5


def test_an_ended_job_is_repeated_until_it_is_saved(started):
    script = Script(saved=[])
    agent = started(script)
    agent.begin("a")
    agent.end("a", "failed")
    until(lambda: len(script.beats) > 4)
    assert script.beats[-1].jobs[0].ended.outcome == "failed"
    script.answer["saved"] = ["a"]
    until(lambda: not script.beats[-1].jobs)
    assert script.grants[-1] == {}


def test_what_an_unknown_scheduler_asks_for_is_sent_again(started):
    script = Script()
    agent = started(script)
    agent.begin("a")
    for i in range(4):
        agent.report("a", float(i))
    until(lambda: len(reports_of(script)) == 4 and not script.beats[-1].jobs[0].reports)
    script.answer.update(incarnation=6, resend={"a": 1})
    until(lambda: script.beats[-1].incarnation == 6)
    script.answer.pop("resend")
    until(lambda: len(reports_of(script)) > 4 and not script.beats[-1].jobs[0].reports)
    again = next(b.jobs[0] for b in reversed(script.beats) if b.jobs[0].reports)
    assert again.declared is not None
    assert (again.first, [report.loss for report in again.reports]) == (1, [1.0, 2.0, 3.0])


def test_a_closing_agent_gives_a_scheduler_that_forgot_a_job_all_of_it(started):
    """The declaration it sends answers the scheduler before, which still had two of the reports."""
    script = Script(saved=[])
    agent = started(script)
    agent.begin("a")
    for i in range(4):
        agent.report("a", float(i))
    until(lambda: len(reports_of(script)) == 4)
    script.answer["resend"] = {"a": 2}
    agent.end("a")
    until(lambda: script.beats[-1].jobs[0].declared and script.beats[-1].jobs[0].first == 2)

    def forgetful(beat):
        asks = beat.incarnation == 5
        script.answer.update(incarnation=6, resend={"a": 0} if asks else {}, saved=[] if asks else ["a"])

    script.before = forgetful
    agent.close(2.0)
    last = script.beats[-1].jobs[0]
    assert (last.first, len(last.reports), last.declared is None) == (0, 4, False)


def test_a_job_nobody_wants_does_not_make_the_agent_hurry(started):
    script = Script(resend={"a": 0}, grants={}, next_beat_s=0.2)
    agent = started(script)
    agent.begin("a")
    until(lambda: script.beats and script.beats[-1].jobs)
    before = len(script.beats)
    time.sleep(0.5)
    assert len(script.beats) - before <= 4


def test_reports_are_kept_for_a_while_and_then_the_oldest_go(started):
    script = Script()
    script.failure = UnreachableError("gone")
    agent = started(script)
    agent.begin("a")
    for i in range(MAX_REPORTS + 10):
        agent.report("a", float(i))
    assert agent.dropped == 10
    script.failure = None
    until(lambda: len(reports_of(script)) >= MAX_REPORTS and not script.beats[-1].jobs[0].reports)
    delivered = [beat for beat in script.beats if beat.jobs and beat.jobs[0].reports][-1]
    assert delivered.jobs[0].first == 10
    assert delivered.jobs[0].reports[-1].loss == MAX_REPORTS + 9
    assert script.beats[-1].dropped == 10


def test_many_jobs_are_spread_over_several_beats(started):
    script = Script()
    agent = started(script)
    for i in range(MAX_JOBS + 5):
        agent.begin(f"j{i}")
    until(lambda: {m.id for b in script.beats for m in b.jobs} == {f"j{i}" for i in range(MAX_JOBS + 5)})
    assert max(len(beat.jobs) for beat in script.beats) == MAX_JOBS


def test_the_lease_runs_out_once_when_the_scheduler_is_gone_and_grants_return_with_it(started):
    script = Script(lease_s=0.3)
    agent = started(script)
    agent.begin("a")
    until(lambda: script.grants and "a" in script.grants[-1])
    script.failure = UnreachableError("gone")
    lost = time.monotonic()
    until(lambda: script.opened)
    assert time.monotonic() - lost < 0.4
    assert not agent.connected
    time.sleep(0.2)
    assert script.opened == 1
    script.failure = None
    seen = len(script.grants)
    until(lambda: len(script.grants) > seen, 6.0)
    assert agent.connected


def test_a_hanging_exchange_does_not_hold_up_the_lease(started):
    script = Script(lease_s=0.3)
    agent = started(script)
    agent.begin("a")
    until(lambda: script.grants)
    let_go = threading.Event()

    def hang(_):
        let_go.wait()
        raise UnreachableError("hung up")

    script.exchange = hang
    script.abort = let_go.set
    until(lambda: script.opened, 0.6)
    assert let_go.is_set()


def test_a_stale_scheduler_is_not_obeyed_while_the_newer_one_lives(started):
    script = Script(lease_s=0.5)
    agent = started(script)
    agent.begin("a")
    until(lambda: script.grants and "a" in script.grants[-1])
    script.answer.update(incarnation=4, grants={"a": 99.0})
    until(lambda: script.opened, 2.0)
    assert {"a": 99.0} not in script.grants
    # Once the newer one has been silent for a lease, the older is the only one there is.
    until(lambda: {"a": 99.0} in script.grants, 5.0)


@pytest.mark.parametrize("number", [-1, 2**53 + 1, 2**200])
def test_an_answer_with_a_number_that_no_scheduler_has_is_not_believed(started, number):
    script = Script(incarnation=number, lease_s=0.2)
    agent = started(script)
    agent.begin("a")
    until(lambda: len(script.beats) > 1)
    script.answer["incarnation"] = 7
    until(lambda: script.grants and "a" in script.grants[-1])
    for beat in script.beats:  # or every scheduler would refuse them from then on
        msgspec.json.decode(msgspec.json.encode(beat), type=Beat)


@pytest.mark.parametrize("failure", [UnreachableError("gone"), RejectedError("bad"), ZeroDivisionError("bug")])
def test_there_is_one_warning_whatever_goes_wrong(started, caplog, failure):
    script = Script()
    script.failure = failure
    with caplog.at_level(logging.WARNING):
        agent = started(script)
        agent.begin("a")
        until(lambda: len(script.beats) >= 3)
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 1
    assert "unthrottled" in warnings[0].message


def test_another_protocol_version_is_not_obeyed(started):
    script = Script(protocol=PROTOCOL + 1)
    agent = started(script)
    agent.begin("a")
    until(lambda: len(script.beats) >= 2)
    assert script.grants == []
    assert not agent.connected


@pytest.mark.parametrize(
    "wrong",
    [
        {"lease_s": 1e300},
        {"lease_s": 0.0},
        {"lease_s": -1.0},
        {"lease_s": math.nan},
        {"grants": {"a": -1.0}},
        {"grants": {"a": math.inf}},
        {"cores": -1.0},
        {"cores": math.nan},
    ],
)
def test_an_answer_that_makes_no_sense_is_none(started, wrong):
    script = Script(**wrong)
    agent = started(script)
    agent.begin("a")
    until(lambda: len(script.beats) >= 2)
    assert script.grants == []
    assert not agent.connected
    script.answer = {"lease_s": 0.3}
    until(lambda: agent.connected)
    script.failure = UnreachableError("gone")
    until(lambda: script.opened)  # the lease still counts


def test_a_sentence_for_the_user_is_shown_once(started, caplog):
    script = Script(notice="two jobs run \x1bunscheduled")
    started(script).begin("a")
    until(lambda: len(script.beats) >= 4)
    script.answer["notice"] = "three do"
    until(lambda: "three do" in caplog.text)
    said = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert said == [
        "the SLAQ scheduler says: two jobs run \N{REPLACEMENT CHARACTER}unscheduled",
        "the SLAQ scheduler says: three do",
    ]


def test_failures_make_beats_rarer(started):
    script = Script(next_beat_s=0.01)
    script.failure = UnreachableError("gone")
    agent, began = started(script), time.monotonic()
    agent.begin("a")
    until(lambda: len(script.beats) >= 4, 30.0)
    assert time.monotonic() - began > 0.8, "pauses of 0.125, 0.25 and 0.5 s at least"


@pytest.mark.parametrize("loss", ["a word", object(), [1.0]])
def test_a_report_that_makes_no_sense_is_told_once_and_counted_in_the_beat(started, loss, caplog):
    script = Script()
    agent = started(script)
    agent.begin("a")
    agent.report("a", loss)
    agent.report("never began", 1.0)
    agent.report("a", 1.0, iteration="three")
    agent.report("a", 1.0, iteration=2**60)
    assert agent.dropped == 4
    until(lambda: script.beats[-1].dropped == 4)
    assert caplog.text.count("was dropped") == 1


@pytest.mark.parametrize("loss", [math.nan, math.inf, None])
def test_a_diverged_loss_is_a_report_and_travels_as_none(started, loss):
    script = Script()
    agent = started(script)
    agent.begin("a")
    agent.report("a", loss, 3, work_core_s=math.nan)
    until(lambda: reports_of(script))
    assert reports_of(script) == [Report(None, 3)]


def test_standings_of_living_jobs_come_with_the_grants(started):
    standing = Standing(0.5, 3.0, 5.0, 20.0)
    script = Script(standings={"a": standing, "gone": standing})
    seen = []
    script.hooks = replace(script.hooks, standings=seen.append)
    agent = started(script)
    agent.begin("a")
    until(lambda: seen and seen[-1])
    assert seen[-1] == {"a": standing}


@pytest.mark.parametrize(
    "bad",
    [("sp ace", None), ("a", Declaration(weight=-1)), ("a", Declaration(max_cores=0.0)), ("a", Declaration("\ud800"))],
)
def test_a_declaration_that_makes_no_sense_is_refused_with_a_sentence(started, bad):
    with pytest.raises(SlaqError, match="cannot be announced"):
        started(Script()).begin(*bad)


@pytest.mark.parametrize("cores", [math.nan, -1.0, math.inf, None, ZeroDivisionError()])
def test_a_driver_that_cannot_tell_its_cores_beats_all_the_same(cores):
    script = Script()

    def tell():
        if isinstance(cores, Exception):
            raise cores
        return cores

    agent = Agent(script, Hooks(lambda *_: None, lambda: None, cores=tell), name="\ud800" + "n" * 300)
    until(lambda: script.beats)
    assert script.beats[0].cores is None
    msgspec.json.decode(msgspec.json.encode(script.beats[0]), type=Beat)
    agent.close(0.1)


def test_a_job_may_declare_itself_anew(started):
    script = Script()
    agent = started(script)
    agent.begin("a", Declaration(max_cores=4.0))
    until(lambda: script.grants and script.grants[-1])
    agent.begin("a", Declaration(max_cores=9.0))
    until(lambda: any(m.declared == Declaration(max_cores=9.0) for b in script.beats for m in b.jobs))


def test_a_job_without_tasks_says_so_at_once(started):
    script = Script(next_beat_s=30.0)
    agent = started(script)
    agent.begin("1")
    until(lambda: script.beats and script.beats[-1].jobs)
    assert not script.beats[-1].jobs[0].idle
    agent.idle("1")
    until(lambda: script.beats[-1].jobs[0].idle)
    agent.idle("1", False)
    until(lambda: not script.beats[-1].jobs[0].idle)
    agent.idle("unknown")


def test_what_a_jobs_tasks_held_goes_with_the_next_beat(started):
    script = Script()
    agent = started(script)
    agent.begin("1")
    until(lambda: script.beats and script.beats[-1].jobs)
    assert script.beats[-1].jobs[0].held_core_s is None
    agent.held("1", 2.5)
    agent.held("unknown", 9.0)
    agent.report("1", 1.0)
    until(lambda: script.beats[-1].jobs[0].held_core_s == 2.5)


def test_the_cores_of_the_whole_application_are_passed_on(started):
    script = Script(cores=3.5, standby=["1"])
    told = []
    script.hooks = Hooks(lambda *arguments: told.append(arguments), lambda: None)
    started(script).begin("1")
    until(lambda: ({"1": 2.0}, 5.0, 3.5, ["1"]) in told)


def test_a_user_can_cancel(started):
    script = Script(cancel=["a", "unknown"])
    agent = started(script)
    agent.begin("a")
    until(lambda: script.cancelled)
    assert set(script.cancelled) == {"a"}


def test_a_stop_is_passed_on_with_every_answer(started):
    script = Script(stop=["a", "unknown"])
    stopped = []
    script.hooks = Hooks(lambda *_: None, lambda: None, stop=stopped.append)
    started(script).begin("a")
    until(lambda: len(stopped) > 1)
    assert set(stopped) == {"a"}


def test_closing_tells_the_scheduler_and_leaves_everything_open(started):
    script = Script(next_beat_s=60.0)
    agent = started(script)
    agent.begin("a")
    until(lambda: script.grants and script.grants[-1])
    agent.report("a", 1.0)
    agent.end("a")
    agent.close()
    assert script.beats[-1].leaving
    assert [report.loss for report in reports_of(script)] == [1.0]
    assert script.opened == 1


def test_closing_does_not_wait_for_a_dead_scheduler(started):
    script = Script()
    script.failure = UnreachableError("gone")
    agent = started(script)
    agent.begin("a")
    began = time.monotonic()
    agent.close(0.5)
    assert time.monotonic() - began < 1.0


def test_a_failing_hook_stops_neither_beats_nor_leases():
    script = Script(lease_s=0.3)

    def broken(*_):
        raise OSError("no bridge")

    agent = Agent(script, Hooks(broken, broken, broken))
    agent.begin("a")
    until(lambda: len(script.beats) > 5)
    assert agent.connected
    agent.close(0.1)


def test_memory_stays_bounded_when_thousands_of_jobs_end_without_a_scheduler(started):
    script = Script()
    script.failure = UnreachableError("gone")
    agent = started(script)
    for i in range(ENDED_KEPT + 200):
        agent.begin(f"j{i}")
        agent.end(f"j{i}")
    assert len(agent._jobs) == ENDED_KEPT


def test_a_report_costs_microseconds(started):
    agent = started(Script(next_beat_s=0.05))
    agent.begin("a")
    best = math.inf
    for _ in range(100):
        began = time.thread_time()
        for i in range(500):
            agent.report("a", 0.5, i)
        best = min(best, (time.thread_time() - began) / 500)
    assert best < 1e-5  # `slaq bench report` measures it; here only a mistake in the order of magnitude counts


def test_a_scheduler_in_this_process_is_just_called():
    seen = []

    def call(beat):
        seen.append(beat)
        return Answer(PROTOCOL, 1, 1, 1.0, 1.0)

    assert Direct(call).exchange(Beat(PROTOCOL, "abcdef", 1)).incarnation == 1
    assert seen == [Beat(PROTOCOL, "abcdef", 1)]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (None, RejectedError),
        (400, RejectedError),
        (403, RefusedError),
        (429, UnreachableError),
        (503, UnreachableError),
    ],
)
def test_what_a_scheduler_in_this_process_refuses_means_the_same_as_over_http(status, kind):
    def call(_):
        error = SlaqError("no")
        if status is not None:
            error.status = status
        raise error

    with pytest.raises(SlaqError, match="no") as caught:
        Direct(call).exchange(Beat(PROTOCOL, "abcdef", 1))
    assert type(caught.value) is kind

"""From the JVM and the user's program to the scheduler: nothing is lost, nothing counts twice, whatever fails between.

Registry, courier, loop, agent and scheduler are the real ones. The JVM's ring and desk are stand-ins that follow the
same rules of numbering; tests/spark checks those rules in the JVM itself.
"""

import atexit
import json
from collections import Counter
from contextlib import nullcontext, suppress

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from slaq.agent import Agent, UnreachableError
from slaq.config import Config
from slaq.driver.early import EarlyRule
from slaq.driver.loop import DriverLoop
from slaq.driver.sidecar import DeskMailbox
from slaq.protocol import job_key
from slaq.scheduler.core import Scheduler
from slaq.sdk.courier import Courier
from slaq.sdk.registry import Registry
from slaq.sdk.reported import Declared, ReportedJob
from slaq.spark.records import Begin, Counters, End, Loss, Poll

COUNTERS = Counters(
    slots=4, strict=False, rounds=0, revivals=0, leases_expired=0, gate=True, stages_tracked=0, faults={}
)


class InjectedError(Exception):
    """A failure that the machine asked for."""


class Faults:
    """The n-th place that asks fails."""

    def __init__(self) -> None:
        self.left = 0

    def here(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise InjectedError


class Ring:
    """The bridge in the JVM, as far as events go."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._kept: list[Begin | Loss | End] = []
        self._numbered = 0

    def add(self, kind, *arguments) -> None:
        self._numbered += 1
        self._kept.append(kind(self._numbered, *arguments))

    def poll(self, acked: int = 0) -> Poll:
        self._faults.here()
        self.acknowledge(acked)
        poll = Poll([], COUNTERS, [event for event in self._kept if event.seq > acked], max(self._numbered, acked))
        self._faults.here()  # the answer is lost on its way
        return poll

    def acknowledge(self, acked: int) -> None:
        self._kept = [event for event in self._kept if event.seq > acked]

    def grant(self, cores, *_) -> int:
        return len(cores)

    def job(self, _):
        return nullcontext()

    def close_pool(self, _) -> None:
        pass


class Desk:
    """The desk in the JVM."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._letters: list[tuple[int, str]] = []
        self._latest = 0
        self._board = ""

    def post(self, last: int, events: str) -> str:
        self._faults.here()
        if events and last > self._latest:
            self._latest = last
            self._letters.append((last, events))
        self._faults.here()
        return self._board

    def exchange(self, board: str, acked: int) -> str:
        self._faults.here()
        self._board = board or self._board
        self._letters = [(last, events) for last, events in self._letters if last > acked]
        letters = [events for _, events in self._letters]
        self._faults.here()
        return json.dumps({"asked": True, "dropped": 0, "letters": letters})


class Context:
    _jsc: object = "running"


class StillCourier(Courier):
    """Delivers when the machine says so, not in a thread."""

    def _run(self) -> None:
        pass


class StillAgent(Agent):
    """Beats when the machine says so, and fails before it takes something where the machine says so."""

    faults: Faults

    def _run(self) -> None:
        pass

    def begin(self, job_id, declaration=None):
        self.faults.here()
        super().begin(job_id, declaration)

    def report(self, job_id, loss, *cost):
        self.faults.here()
        super().report(job_id, loss, *cost)

    def end(self, job_id, outcome="finished"):
        self.faults.here()
        self.ends[job_id] += 1
        super().end(job_id, outcome)


class Delivery(RuleBasedStateMachine):
    sidecar = True
    """Whether the loop runs beside the JVM, as with the plugin, or in the user's process, as after `slaq.attach`."""

    def __init__(self) -> None:
        super().__init__()
        self.faults = Faults()
        self.now_s = 0.0
        self.loops: dict[int, ReportedJob] = {}
        self.sent: dict[str, list[float]] = {}
        self.ended: set[str] = set()
        self.value = 1000.0
        self.on_the_way = ""
        self.scheduler = self.new_scheduler(1)

    def new_scheduler(self, incarnation: int) -> Scheduler:
        archive = self.scheduler.archive if incarnation > 1 else None
        return Scheduler(Config(), archive, incarnation=incarnation, clock=lambda: self.now_s, wall=lambda: self.now_s)

    @initialize()
    def start(self) -> None:
        self.ring, self.desk, self.registry = Ring(self.faults), Desk(self.faults), Registry()
        self.context = Context()
        self.courier = StillCourier(self.context, self.desk, self.ring, EarlyRule(), self.registry)
        atexit.unregister(self.courier._leave)
        if self.sidecar:
            self.registry.host = self.courier
        mailbox = DeskMailbox(self.desk) if self.sidecar else self.registry
        self.loop = DriverLoop(self.ring, self.connect, Config(progress=False), "app", mailbox)
        self.agent = self.loop.agent

    def connect(self, hooks) -> StillAgent:
        StillAgent.faults, StillAgent.ends = self.faults, Counter()
        return StillAgent(self, hooks)

    def exchange(self, beat):
        """The transport of the agent: beats travel as JSON."""
        if self.on_the_way == "lost":
            raise UnreachableError("the beat is lost")
        wire = msgspec.json.encode(beat)
        for _ in range(2 if self.on_the_way == "doubled" else 1):
            answer = self.scheduler.beat(msgspec.json.decode(wire, type=type(beat)))
        if self.on_the_way == "unanswered":
            raise UnreachableError("the answer is lost")
        return answer

    def abort(self) -> None:
        pass

    def next_loss(self, job: str) -> float:
        self.value -= 1.0
        self.sent[job].append(self.value)
        return self.value

    @rule(number=st.integers(0, 2), times=st.integers(1, 3))
    def a_fit_reports(self, number: int, times: int) -> None:
        job = f"fit-{number}"
        if job in self.ended:
            return
        if job not in self.sent:
            self.sent[job] = []
            self.ring.add(Begin, job, "KMeans")
        for _ in range(times):
            self.ring.add(Loss, job, len(self.sent[job]), self.next_loss(job))

    @rule(number=st.integers(0, 2), times=st.integers(1, 3))
    def a_loop_reports(self, number: int, times: int) -> None:
        if number not in self.loops:
            self.loops[number] = self.registry.begin(Declared(f"loop-{number}"))
            self.sent[self.loops[number].id] = []
        job = self.loops[number]
        if not job.ended:
            for _ in range(times):
                job.add(self.next_loss(job.id), None, {})

    @rule(number=st.integers(0, 2), fit=st.booleans())
    def a_job_ends(self, number: int, fit: bool) -> None:
        if fit and f"fit-{number}" in self.sent.keys() - self.ended:
            self.ended.add(f"fit-{number}")
            self.ring.add(End, f"fit-{number}")
        elif not fit and number in self.loops:
            self.ended.add(self.loops[number].id)
            self.registry.end(self.loops[number])

    @rule(fails_at=st.integers(0, 8))
    def turn(self, fails_at: int) -> None:
        self.faults.left = fails_at
        with suppress(InjectedError):
            self.loop.turn()
        self.faults.left = 0

    @rule(fails_at=st.integers(0, 2))
    def the_courier_delivers(self, fails_at: int) -> None:
        if self.sidecar:
            self.faults.left = fails_at
            self.courier._deliver(True)
            self.faults.left = 0

    @rule(on_the_way=st.sampled_from(["", "lost", "unanswered", "doubled"]))
    def the_agent_beats(self, on_the_way: str) -> None:
        self.on_the_way = on_the_way
        self.agent._attempt(leaving=False)
        self.on_the_way = ""

    @rule()
    def the_scheduler_decides(self) -> None:
        self.now_s += 1.0
        self.scheduler.decide()

    @rule()
    def the_scheduler_restarts(self) -> None:
        self.scheduler = self.new_scheduler(self.scheduler.incarnation + 1)

    def settled(self) -> None:
        """Everything works again for a while."""
        for _ in range(3):
            self.the_courier_delivers(0)
            self.turn(0)
            self.the_agent_beats("")
            self.the_scheduler_decides()

    def everything_arrives_once_and_in_order(self) -> None:
        self.settled()
        told = {job: losses for job, losses in self.sent.items() if losses}
        for job, losses in told.items():
            found = self.scheduler.job(job_key(self.agent.app, job))
            assert [point.loss for point in found.losses] == losses
            assert (found.job.state == "finished") == (job in self.ended)
        ends = {job: self.agent.ends[job] for job in self.sent}
        assert ends == {job: int(job in self.ended) for job in self.sent}
        assert self.agent.dropped == 0
        assert self.registry.read() == []

    def teardown(self) -> None:
        if hasattr(self, "agent"):
            self.everything_arrives_once_and_in_order()
            self.context._jsc = None
            self.agent.close(0.0)


class LocalDelivery(Delivery):
    sidecar = False


TestThroughTheSidecar = Delivery.TestCase
TestThroughTheSidecar.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)
TestInOneProcess = LocalDelivery.TestCase
TestInOneProcess.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)

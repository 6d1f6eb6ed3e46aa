"""Answers of a scheduler to a driver's agent: whatever they say, jobs go on and hooks hear only what makes sense."""

import logging
import math
from functools import partial
from random import Random
from typing import Any

import msgspec

from slaq.agent import Agent, Hooks
from slaq.agent.http import answer_of
from slaq.bench._fuzzing import BrokenError
from slaq.bench._grammar import drawer, message
from slaq.protocol import PROTOCOL, Answer, Beat
from slaq.records import LARGEST_COUNT

JOBS = ("1", "fit-7")
LONGEST_LEASE_S = 86_400.0


def _fixed(value: Any, _random: Random) -> Any:
    return value


class _StillAgent(Agent):
    """Beats when it is told to."""

    def _run(self) -> None:
        pass

    def beat(self) -> float:
        """One beat; the seconds until the next."""
        return self._attempt(leaving=False)


class _Defects(logging.Handler):
    """Notes whatever is logged with a stack trace: the agent calls that a defect."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """See logging."""
        if record.exc_info and record.exc_info[1] is not None:
            self.seen.append(repr(record.exc_info[1]))
        if not record.getMessage().isprintable():
            self.seen.append(record.getMessage())


class Answers:
    """An agent with two jobs, at the other end of which sits the fuzzer."""

    name = "answers"

    def __init__(self) -> None:
        self._body, self._heard = b"", ""
        fixed = {"protocol": PROTOCOL, "incarnation": LARGEST_COUNT, "lease_s": 5.0}
        self._draw = drawer(Answer, {name: partial(_fixed, value) for name, value in fixed.items()})
        self._defects = _Defects()
        self._log = logging.getLogger("slaq.agent")
        self._before = self._log.propagate, self._log.level
        self._log.propagate = False
        self._log.setLevel(logging.DEBUG)
        self._log.addHandler(self._defects)
        self._agent = _StillAgent(self, Hooks(self._granted, lambda: None), app="app0001")
        for job_id in JOBS:
            self._agent.begin(job_id)

    def exchange(self, _: Beat) -> Answer:
        """See Transport.exchange."""
        return answer_of(self._body, "the fuzzer")

    def abort(self) -> None:
        """See Transport.abort."""

    def case(self, random: Random) -> str:
        """See Target.case."""
        self._body, self._heard = message(random, self._draw), "refused"
        self._agent.report("1", random.random())
        delay_s = self._agent.beat()
        if not 0.0 <= delay_s < 3600.0:
            raise BrokenError(f"{self._body[:300]!r} makes the agent wait for {delay_s} s")
        if self._defects.seen:
            raise BrokenError(f"{self._body[:300]!r}: {self._defects.seen.pop()[:300]}")
        return self._heard

    def check(self) -> None:
        """A right answer is obeyed, whatever came before."""
        now = Answer(PROTOCOL, LARGEST_COUNT, 1, 10.0, 1.0, {"1": 2.5})
        self._body, self._heard = msgspec.json.encode(now), ""
        self._agent.beat()
        if self._heard != "applied":
            raise BrokenError("a right answer is not obeyed any more")

    def close(self) -> None:
        """See Target.close."""
        self._agent.close(0.0)
        self._log.removeHandler(self._defects)
        self._log.propagate, level = self._before
        self._log.setLevel(level)

    def _granted(self, cores: dict[str, float], lease_s: float, total: float | None, standby: list[str]) -> None:
        del standby
        self._heard = "applied"
        numbers = [*cores.values(), lease_s, total or 0.0]
        if not all(math.isfinite(each) and each >= 0.0 for each in numbers) or lease_s > LONGEST_LEASE_S:
            raise BrokenError(f"grants of {cores!r} for {lease_s} s, {total} in all")
        if cores.keys() - set(JOBS):
            raise BrokenError(f"grants for jobs that are not there: {cores!r}")

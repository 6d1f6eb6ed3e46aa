"""Ideal cores: work that can be split at will, without pauses, tasks or slots. What is lost here, judgement lost.

The clairvoyant on ideal cores is the limit that a stream is measured against. With the engine in the loop, what is
lost to the clairvoyant is its judgement, and with real epochs also its news being late.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from slaq.model import Tuning
from slaq.sim.clairvoyant import density
from slaq.sim.decisions import Decisions
from slaq.sim.machine import Course
from slaq.sim.script import Script

ROUNDING = 1e-9


@dataclass(slots=True)
class Flow:
    """A job on ideal cores."""

    script: Script
    points: tuple[float, ...]
    """Core-seconds until each loss, and until the end."""
    partitions: int
    held_core_s: float = 0.0
    known: int = 0
    ended: bool = False
    rate: float = 0.0
    paused_s: float = 0.0
    arrived: bool = False

    @property
    def active(self) -> bool:
        """Whether it has work: from its arrival to its end."""
        return self.arrived and not self.ended


def ideal(scripts: Sequence[Script], cores: int, tuning: Tuning) -> list[Course]:
    """The clairvoyant: all cores to whoever's next milestones are worth most per core-second, at every moment."""

    def share_out(_now_s: float, flows: Sequence[Flow]) -> float:
        for flow in flows:
            flow.rate = 0.0
        alive = [flow for flow in flows if flow.active]
        if alive:
            max(alive, key=lambda flow: density(flow.script, flow.held_core_s, tuning)).rate = float(cores)
        return math.inf

    return _flow(scripts, share_out)


def decided(scripts: Sequence[Script], decisions: Decisions) -> list[Course]:
    """The engine's decisions, followed to the letter by ideal cores."""
    pace = decisions.pace
    due = [pace.first_poll_s, pace.epoch_s]

    def share_out(now_s: float, flows: Sequence[Flow]) -> float:
        while (at_s := min(due)) <= now_s + ROUNDING:
            if due[0] == at_s:
                due[0] += pace.turn_s
                decisions.poll(now_s, flows)
            epoch = due[1] <= now_s + ROUNDING
            if epoch or decisions.hastened(now_s):
                due[1] += pace.epoch_s if epoch else 0.0
                cores = decisions.decide(now_s).cores
                for flow in flows:
                    flow.rate = cores.get(flow.script.name, 0.0)
        return min(due)

    return _flow(scripts, share_out)


def _flow(scripts: Sequence[Script], share_out: Callable[[float, Sequence[Flow]], float]) -> list[Course]:
    """`share_out(now_s, flows)` sets the rates and says when it wants to be asked again, if nothing happens before."""
    flows = [_flow_of(script) for script in scripts]
    times: list[list[float]] = [[] for _ in flows]
    ended = [math.nan] * len(flows)
    now_s = 0.0
    while any(math.isnan(at_s) for at_s in ended):
        for flow in flows:
            flow.arrived = flow.script.arrival_s <= now_s + ROUNDING
        again_s = share_out(now_s, flows)
        next_s = min(
            again_s,
            *(flow.script.arrival_s for flow in flows if not flow.arrived),
            *(
                now_s + max(flow.points[flow.known] - flow.held_core_s, 0.0) / flow.rate
                for flow in flows
                if flow.active and flow.rate > 0.0
            ),
            math.inf,
        )
        for place, flow in enumerate(flows):
            if not flow.active:
                continue
            flow.held_core_s += flow.rate * (next_s - now_s)
            while flow.points[flow.known] <= flow.held_core_s + ROUNDING:
                if flow.known == len(flow.script.losses):
                    flow.ended, ended[place] = True, next_s
                    break
                times[place].append(next_s)
                flow.known += 1
        now_s = next_s
    return [Course(flow.script, tuple(at), end) for flow, at, end in zip(flows, times, ended, strict=True)]


def _flow_of(script: Script) -> Flow:
    work = script.work_after()
    points = (*(work[shown.steps] for shown in script.losses), work[-1])
    return Flow(script, points, max((len(step.tasks_s) for step in script.steps), default=1))

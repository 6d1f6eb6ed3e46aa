"""A recorded stream under any scheduler, at task level or on ideal cores, and what became of its jobs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np
from msgspec import Struct, structs

from slaq import policy
from slaq.errors import SlaqError
from slaq.model import DEFAULTS, Tuning
from slaq.predict import LEARNED
from slaq.sim import fluid
from slaq.sim.decisions import IN_DRIVER, Decisions, Pace
from slaq.sim.disciplines import SPARKS_OWN, Discipline, by_density, named_rule
from slaq.sim.machine import Course, Machine
from slaq.sim.script import SHARES, Script

CLAIRVOYANT, IDEAL = "clairvoyant", "ideal"
"""Perfect foresight with the policy's own values, at task level and on ideal cores."""

SHAKE = 0.05
"""Standard deviation, in logarithms, of the lengths of tasks in a stream that is shaken."""


@dataclass(frozen=True, slots=True)
class Stream:
    """What was recorded."""

    scripts: tuple[Script, ...]
    cores: int
    handover_s: float = 0.0
    """See `Machine`."""


@dataclass(frozen=True, slots=True)
class Follow:
    """How the engine decides and how its decisions are followed."""

    pace: Pace = IN_DRIVER
    rule: str = "tokens"
    tuning: Tuning = DEFAULTS
    predictor: str = LEARNED
    named: bool = True
    """Whether the scheduler knows the estimators."""

    def decisions(self, name: str, cores: int) -> Decisions:
        """The engine with the policy of that name."""
        return Decisions(name, cores, self.pace, self.tuning, self.predictor, self.named)


class Result(Struct, frozen=True):
    """Means over the jobs, in seconds after their arrival; the whole stream from its begin."""

    t90_s: float
    t95_s: float
    end_s: float
    makespan_s: float


def names() -> list[str]:
    """All that `play` knows."""
    return [*SPARKS_OWN, *policy.names(), CLAIRVOYANT, IDEAL]


def play(stream: Stream, name: str, follow: Follow | None = None) -> list[Course]:
    """The stream under Spark's own scheduler, one of SLAQ's policies, or the clairvoyant."""
    follow = follow or Follow()
    scripts, cores = stream.scripts, stream.cores
    if name == IDEAL:
        return fluid.ideal(scripts, cores, follow.tuning)
    if name == CLAIRVOYANT:
        return Machine(scripts, cores, Discipline(by_density(follow.tuning)), None, stream.handover_s).run()
    if name in SPARKS_OWN:
        return Machine(scripts, cores, SPARKS_OWN[name], None, stream.handover_s).run()
    if name not in policy.names():
        raise SlaqError(f"unknown policy {name!r}; choose among {', '.join(names())}")
    rule = named_rule(follow.rule)
    return Machine(scripts, cores, rule, follow.decisions(name, cores), stream.handover_s).run()


def result(courses: Sequence[Course]) -> Result:
    """The numbers that are compared."""
    t90_s, t95_s = (fmean(course.time_to(share) for course in courses) for share in SHARES)
    return Result(
        t90_s,
        t95_s,
        fmean(course.ended_s - course.script.arrival_s for course in courses),
        max(course.ended_s for course in courses),
    )


def shaken(stream: Stream, seed: int) -> Stream:
    """The stream with every task a little longer or shorter; with seed 0 as it was.

    A single stream decides little: which of two jobs reaches a milestone first may hang on milliseconds.
    """
    if not seed:
        return stream
    random = np.random.default_rng(seed)
    scripts = []
    for script in stream.scripts:
        steps = []
        for step in script.steps:
            factors = np.exp(random.normal(0.0, SHAKE, len(step.tasks_s)))
            steps.append(structs.replace(step, tasks_s=tuple((np.array(step.tasks_s) * factors).tolist())))
        scripts.append(structs.replace(script, steps=tuple(steps)))
    return replace(stream, scripts=tuple(scripts))


def without_pauses(stream: Stream) -> Stream:
    """The same work from drivers that need no time between two stages."""
    return replace(stream, scripts=tuple(_without_pauses(script) for script in stream.scripts))


def _without_pauses(script: Script) -> Script:
    steps = tuple(structs.replace(step, pause_s=0.0) for step in script.steps)
    return structs.replace(script, steps=steps, rest_s=0.0)

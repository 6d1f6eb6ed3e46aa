"""Recorded jobs once more, with the engine in the loop: under the policy that decided, or under another one.

Everything but the jobs' progress is as recorded: who came when, capacity, weights, quotas, what users held. How far a
job comes follows from its course and its cores. Cores are ideal: no tasks, no slots, nothing borrowed. A job that had
not ended goes on working, and tells nothing that it did not tell.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from slaq.engine import (
    Allocated,
    EpochEnded,
    Event,
    JobJoined,
    JobMoved,
    JobReported,
    JobSeen,
    PolicyChanged,
    PolicyFailed,
    State,
    run,
)
from slaq.engine.log import Epoch
from slaq.errors import SlaqError
from slaq.model import Report
from slaq.sim.courses import BY_ITSELF, Course

IDLE_S = 0.25
"""A pause that is this long still is told, as by drivers: the cores go to others meanwhile."""
NOTHING = 1e-9


@dataclass(slots=True)
class Progress:
    """How far one job is."""

    course: Course
    began_s: float
    held_core_s: float
    told: list[tuple[float, float]] = field(default_factory=list)
    """When each of its losses was told, and the loss."""
    ended_s: float | None = None
    idle: bool = False
    _place: int = 0
    _worked_core_s: float = 0.0
    _paused_s: float = 0.0

    def advance(self, from_s: float, until_s: float, cores: float) -> Iterable[Event]:
        """Go on with these cores; what its driver then tells."""
        parts, now_s = self.course.parts, max(from_s, self.began_s)
        reports: list[Report] = []
        while now_s < until_s - NOTHING and self._place < len(parts):
            part = parts[self._place]
            if (work_core_s := part.work_core_s - self._worked_core_s) > NOTHING:
                if cores <= 0.0:
                    break
                step_s = min(work_core_s / cores, until_s - now_s)
                self._worked_core_s += step_s * cores
                self.held_core_s += step_s * cores
            else:
                step_s = min(part.pause_s - self._paused_s, until_s - now_s)
                self._paused_s += step_s
            now_s += step_s
            if part.work_core_s - self._worked_core_s <= NOTHING and part.pause_s - self._paused_s <= NOTHING:
                reports += part.reports
                self._place, self._worked_core_s, self._paused_s = self._place + 1, 0.0, 0.0
        # Beats bring the news shortly before a decision, in the recording as well.
        self.told += [(until_s, report.loss) for report in reports if report.loss is not None]
        over = self._place == len(parts)
        if over and self.course.ending is None:
            self.held_core_s += cores * max(until_s - now_s, 0.0)
        key = self.course.job.id
        yield (JobReported(until_s, key, tuple(reports), self.held_core_s) if reports
               else JobSeen(until_s, key, self.held_core_s))  # fmt: skip
        ending = self.course.ending
        if ending is not None and (over if ending in BY_ITSELF else until_s >= self.course.ended_s):
            self.ended_s = until_s
            yield JobMoved(until_s, key, ending)
        elif self._rests() != self.idle:
            self.idle = not self.idle
            yield JobMoved(until_s, key, "rest" if self.idle else "work")

    def _rests(self) -> bool:
        parts = self.course.parts
        if self._place == len(parts):
            return False
        part = parts[self._place]
        return part.work_core_s - self._worked_core_s <= NOTHING and part.pause_s - self._paused_s > IDLE_S


@dataclass(frozen=True, slots=True)
class Decided:
    """The cores of all jobs at one decision."""

    now_s: float
    cores: dict[str, float]


@dataclass(frozen=True, slots=True)
class Played:
    """What came of it."""

    jobs: list[Progress]
    decisions: list[Decided]


def play(
    state: State, epochs: Iterable[Epoch], found: Sequence[Course], policy: str | None, decided: Callable[[], None]
) -> Played:
    """Run the jobs again from this state; `policy` None: under those that decided. `decided` is called each epoch."""
    if policy is not None:
        state, _ = run(state, [PolicyChanged(state.now_s, policy)])
    jobs = [
        Progress(one, state.now_s if one.joined_s is None else one.joined_s, one.job.attained_core_s) for one in found
    ]
    for one in jobs:
        one.idle = one.course.joined_s is None and "idle" in one.course.job.life.waits
    coming = {key: list(some) for key, some in groupby(sorted(jobs, key=_key), key=_key)}
    alive = {key: some.pop(0) for key, some in coming.items() if some[0].course.joined_s is None}
    decisions: list[Decided] = []
    for epoch in epochs:
        from_s, until_s = state.now_s, epoch.events[-1].now_s
        events = _as_recorded(epoch, policy, alive, coming)
        for key, one in alive.items():
            known = state.jobs.get(key)
            events += one.advance(from_s, until_s, known.cores if known is not None else 0.0)
        alive = {key: one for key, one in alive.items() if one.ended_s is None}
        state, effects = run(state, [*events, EpochEnded(until_s)])
        for effect in effects:
            if isinstance(effect, PolicyFailed):
                raise SlaqError(f"policy {effect.policy} failed on these jobs: {effect.error}")
            if isinstance(effect, Allocated):
                decisions.append(Decided(until_s, effect.decision.cores))
        decided()
    return Played(jobs, decisions)


def _as_recorded(
    epoch: Epoch, policy: str | None, alive: dict[str, Progress], coming: dict[str, list[Progress]]
) -> list[Event]:
    """The events of an epoch that no policy changes; jobs that come are alive from now on."""
    kept: list[Event] = []
    for event in epoch.events:
        match event:
            case EpochEnded() | JobReported() | JobSeen():
                continue
            case PolicyChanged() if policy is not None:
                continue
            case JobJoined(job=job) if job.id not in alive:
                if not coming.get(job.id):
                    continue  # it had ended when it came again
                alive[job.id] = coming[job.id].pop(0)
            case JobMoved(move=move) if move not in ("hold", "release"):
                continue
            case _:
                pass
        kept.append(event)
    return kept


def _key(one: Progress) -> str:
    return one.course.job.id

"""Slots and tasks on a virtual clock: scripts of real jobs under a discipline, with or without the engine.

Every task holds one slot for the seconds that it held one when it was recorded. Whoever waits gets a free slot by the
discipline's rule; the machine itself knows no policy.
"""

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from slaq.sim.decisions import Decided, Decisions
from slaq.sim.disciplines import Discipline
from slaq.sim.pool import Pool
from slaq.sim.script import Script

SHORTEST_S = 0.0005
"""Of a task: the event log counts milliseconds."""


@dataclass(frozen=True, slots=True)
class Course:
    """What became of one job: when each loss was known, and when it ended, in seconds since the stream's begin."""

    script: Script
    times_s: tuple[float, ...]
    ended_s: float

    def time_to(self, share: float) -> float:
        """Seconds from arrival to this share of its loss reduction; its whole time if the loss never fell."""
        at = self.script.reached(share)
        return (self.ended_s if at < 0 else self.times_s[at]) - self.script.arrival_s


Observe = Callable[[float, Pool, bool], None]
"""observe(now_s, pool, launched): a task started (or, False, ended)."""


class Machine:
    """`slots` slots, the pools of all scripts, and the events to come."""

    def __init__(
        self,
        scripts: Sequence[Script],
        slots: int,
        discipline: Discipline,
        decisions: Decisions | None = None,
        handover_s: float = 0.0,
        observe: Observe | None = None,
    ) -> None:
        """`handover_s`: what a slot stands idle before each task, while Spark hands it on; negative: by how much it is
        free before the end of a task is heard of."""
        self.pools = [Pool(script, place) for place, script in enumerate(scripts)]
        self._arrived: list[Pool] = []
        self._free = slots
        self._rule, self._bounds = discipline.rule, discipline.bounds
        self._decisions, self._handover_s, self._observe = decisions, handover_s, observe
        self._times: list[list[float]] = [[] for _ in scripts]
        self._scheduled = [0] * len(scripts)
        """Losses that are known, or will be in the pause under way."""
        self._ended: list[float] = [math.nan] * len(scripts)
        self._events: list[tuple[float, int, Callable[[float], None]]] = []
        self._number, self._left = 0, len(scripts)

    def run(self) -> list[Course]:
        """Everything to its end."""
        for pool in self.pools:
            self._at(pool.script.arrival_s, lambda now_s, pool=pool: self._arrive(now_s, pool))  # type: ignore[misc]
        if self._decisions is not None:
            self._at(self._decisions.pace.first_poll_s, self._poll)
            self._at(self._decisions.pace.epoch_s, self._epoch)
        while self._left:
            now_s, _, happen = heapq.heappop(self._events)
            happen(now_s)
        return [
            Course(pool.script, tuple(times), ended)
            for pool, times, ended in zip(self.pools, self._times, self._ended, strict=True)
        ]

    def _at(self, at_s: float, happen: Callable[[float], None]) -> None:
        self._number += 1
        heapq.heappush(self._events, (at_s, self._number, happen))

    def _arrive(self, now_s: float, pool: Pool) -> None:
        pool.counted_s = pool.active_s = now_s
        self._arrived.append(pool)
        self._rest(now_s, pool)

    def _rest(self, now_s: float, pool: Pool) -> None:
        """The driver's pause before the next stage, or before the end."""
        script = pool.script
        last = pool.step == len(script.steps)
        pause_s = script.rest_s if last else script.steps[pool.step].pause_s
        for shown in script.losses[self._scheduled[pool.place] :]:
            if shown.steps > pool.step:
                break
            self._scheduled[pool.place] += 1
            self._at(now_s + min(shown.after_s, pause_s), lambda at_s: self._show(at_s, pool))
        self._at(now_s + pause_s, lambda at_s: self._end(at_s, pool) if last else self._submit(at_s, pool, pause_s))

    def _show(self, now_s: float, pool: Pool) -> None:
        """A loss is known."""
        pool.known += 1
        self._times[pool.place].append(now_s)

    def _submit(self, now_s: float, pool: Pool, pause_s: float) -> None:
        tasks = pool.script.steps[pool.step].tasks_s
        pool.paused(pause_s)
        pool.waiting = list(reversed(tasks))
        pool.partitions = max(pool.partitions, len(tasks))
        pool.submitted_s = now_s
        self._offer(now_s)

    def _end(self, now_s: float, pool: Pool) -> None:
        self._count(now_s)
        pool.ended = True
        self._ended[pool.place] = now_s
        self._left -= 1
        self._arrived.remove(pool)
        self._offer(now_s)

    def _finish(self, now_s: float, pool: Pool, paid: bool) -> None:
        self._count(now_s)
        pool.running -= 1
        pool.lent -= not paid
        pool.active_s = now_s
        self._free += 1
        if self._observe:
            self._observe(now_s, pool, False)
        if not pool.active:
            pool.step += 1
            self._rest(now_s - min(self._handover_s, 0.0), pool)
        self._offer(now_s)

    def _offer(self, now_s: float) -> None:
        """Hand out free slots, one by one, while the rule finds somebody for them."""
        self._count(now_s)
        while self._free:
            waiting = [pool for pool in self._arrived if pool.waiting]
            if not waiting:
                return
            pool, paid = self._rule(waiting)
            length_s = pool.waiting.pop()
            pool.running += 1
            pool.lent += not paid
            pool.active_s = now_s
            self._free -= 1
            if self._observe:
                self._observe(now_s, pool, True)
            self._at(
                now_s + max(length_s + self._handover_s, SHORTEST_S),
                lambda at_s, pool=pool, paid=paid: self._finish(at_s, pool, paid),  # type: ignore[misc]
            )

    def _count(self, now_s: float) -> None:
        for pool in self._arrived:
            pool.count(now_s, *self._bounds(pool.granted or 0.0))

    def _poll(self, now_s: float) -> None:
        assert self._decisions is not None
        self._count(now_s)
        self._decisions.poll(now_s, self.pools)
        if self._decisions.hastened(now_s):
            self._decide(now_s)
        self._at(now_s + self._decisions.pace.turn_s, self._poll)

    def _epoch(self, now_s: float) -> None:
        assert self._decisions is not None
        self._decide(now_s)
        self._at(now_s + self._decisions.pace.epoch_s, self._epoch)

    def _decide(self, now_s: float) -> None:
        assert self._decisions is not None
        decided = self._decisions.decide(now_s)
        self._at(now_s + self._decisions.pace.lag_s, lambda at_s: self._apply(at_s, decided))

    def _apply(self, now_s: float, decided: Decided) -> None:
        self._count(now_s)
        for pool in self._arrived:
            if pool.name in decided.cores:
                pool.granted = decided.cores[pool.name]
                pool.standby = decided.standby.get(pool.name)
                pool.rank = decided.rank[pool.name]
        self._offer(now_s)

"""One run: a world, its faults at their times, a while of peace, and the evidence."""

import heapq
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from slaq.bench._chaos.evidence import Evidence, Injected, mended_s
from slaq.bench._chaos.faults.kind import PROCESSES, FaultKind
from slaq.bench._chaos.gather import gather
from slaq.bench._chaos.plan import Fault
from slaq.bench._chaos.world import EPOCH_S, LEASE_S, World, await_true

PEACE_S = 5.0
"""While jobs still train and no fault is felt any more: everything must be in order."""
DRAIN_S = 45.0
"""For the last jobs to end and to be told of."""
WATCH_S = 0.25


@dataclass(frozen=True, slots=True)
class _Due:
    """Something to do at a time; a fault is mended before the next one begins."""

    at_s: float
    mend: bool
    fault: Fault

    def __lt__(self, other: "_Due") -> bool:
        return (self.at_s, not self.mend) < (other.at_s, not other.mend)


def run(faults: Sequence[Fault], kinds: Sequence[FaultKind]) -> Evidence:
    """Everything that was seen of a world in which these faults happened."""
    world = World(PROCESSES)
    try:
        return _run(world, faults, kinds)
    finally:
        world.close()


def _run(world: World, faults: Sequence[Fault], kinds: Sequence[FaultKind]) -> Evidence:
    if not world.start_scheduler():
        world.note_exit(world.scheduler)
    for number in range(PROCESSES):
        world.start_trainers(number)
    began_s = time.monotonic()
    injected = _inject(world, faults, kinds, began_s)
    felt_s = max((mended_s(fault, EPOCH_S, LEASE_S) for fault in injected), default=began_s)
    _wait(world, max(felt_s, began_s + LEASE_S) + PEACE_S)
    ended_s = time.monotonic()
    world.stop.touch()
    if not await_true(lambda: _ended(world), DRAIN_S):
        world.surprises.append(f"not everything came to its end within {DRAIN_S:.0f} s")
    return replace(gather(world, began_s, ended_s), faults=tuple(injected))


def _inject(world: World, faults: Sequence[Fault], kinds: Sequence[FaultKind], began_s: float) -> list[Injected]:
    known = {(kind.plan.name, kind.plan.part): kind for kind in kinds}
    queue = [_Due(fault.at_s, False, fault) for fault in faults]
    heapq.heapify(queue)
    open_faults: dict[int, tuple[float, Callable[[], None]]] = {}
    done: list[Injected] = []
    while queue:
        due = heapq.heappop(queue)
        fault, kind = due.fault, known[due.fault.kind.name, due.fault.kind.part]
        _wait(world, began_s + due.at_s)
        at_s = time.monotonic()
        if due.mend:
            injected_s, mend = open_faults.pop(id(fault))
            mend()
            done.append(Injected(fault.kind.name, injected_s, time.monotonic(), kind.loosens))
        else:
            open_faults[id(fault)] = at_s, kind.inject(world, Random(fault.seed), fault.kind.part)
            heapq.heappush(queue, _Due(fault.end_s, True, fault))
        began_s += time.monotonic() - at_s  # the plan waits while a scheduler starts
    return done


def _wait(world: World, until_s: float) -> None:
    while True:
        world.watch()
        left_s = until_s - time.monotonic()
        if left_s <= 0.0:
            return
        time.sleep(min(left_s, WATCH_S))


def _ended(world: World) -> bool:
    return not any(program.alive for program in world.trainers)

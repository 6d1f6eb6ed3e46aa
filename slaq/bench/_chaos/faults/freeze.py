"""SIGSTOP, and SIGCONT later: the process is there, its sockets are open, and it says nothing."""

import signal
import time
from random import Random

from slaq.bench._chaos.faults.kind import PROCESSES, FaultKind, Mend
from slaq.bench._chaos.plan import Kind
from slaq.bench._chaos.world import World


def _scheduler(world: World, _chance: Random, _part: str) -> Mend:
    world.scheduler.send(signal.SIGSTOP)
    return lambda: world.scheduler.send(signal.SIGCONT)


def _trainers(world: World, _chance: Random, part: str) -> Mend:
    program = world.trainers[int(part.rpartition(" ")[2])]
    began_s = time.monotonic()
    program.send(signal.SIGSTOP)

    def mend() -> None:
        program.send(signal.SIGCONT)
        for app in world.apps_of(program):
            world.silent.setdefault(app, []).append((began_s, time.monotonic()))

    return mend


KINDS = [
    FaultKind(Kind("freeze scheduler", "scheduler", (0.2, 3.5)), _scheduler),
    *(FaultKind(Kind("freeze agents", f"trainers {n}", (0.2, 3.5)), _trainers) for n in range(PROCESSES)),
]

"""kill -9: the scheduler, which is started again, and agents, which are followed by new applications."""

import time
from random import Random

from slaq.bench._chaos.faults.kind import PROCESSES, FaultKind, Mend
from slaq.bench._chaos.plan import Kind
from slaq.bench._chaos.world import World


def _scheduler(world: World, _chance: Random, _part: str) -> Mend:
    world.scheduler.kill()

    def mend() -> None:
        if not world.start_scheduler():
            world.note_exit(world.scheduler)

    return mend


def _trainers(world: World, _chance: Random, part: str) -> Mend:
    number = int(part.rpartition(" ")[2])
    program = world.trainers[number]
    if program.alive:
        world.died |= dict.fromkeys(world.apps_of(program), time.monotonic())
    program.kill()
    return lambda: world.start_trainers(number)


KINDS = [
    FaultKind(Kind("kill scheduler", "scheduler", (0.1, 3.0)), _scheduler),
    # Nobody holds more because of it: the dead hold nothing.
    *(FaultKind(Kind("kill agents", f"trainers {n}", (0.1, 2.0)), _trainers, loosens=False) for n in range(PROCESSES)),
]

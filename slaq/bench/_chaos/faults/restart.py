"""An orderly restart, as for an upgrade."""

from random import Random

from slaq.bench._chaos.faults.kind import FaultKind, Mend
from slaq.bench._chaos.plan import Kind
from slaq.bench._chaos.world import World


def _restart(world: World, _chance: Random, _part: str) -> Mend:
    code = world.scheduler.end()
    if code != 0:
        world.surprises.append(f"the scheduler took SIGTERM and ended with {code}")

    def mend() -> None:
        if not world.start_scheduler():
            world.note_exit(world.scheduler)

    return mend


KINDS = [FaultKind(Kind("restart scheduler", "scheduler", (0.0, 1.0)), _restart)]

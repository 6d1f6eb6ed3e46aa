"""The wall clock jumps, forwards and backwards; only where the scheduler is given its clock, not in the kernel."""

from random import Random

from slaq.bench._chaos.faults.kind import FaultKind, Mend
from slaq.bench._chaos.plan import Kind
from slaq.bench._chaos.served import set_clock
from slaq.bench._chaos.world import World

JUMPS_S = (-86_400.0, -3600.0, -5.0, 5.0, 3600.0, 86_400.0)


def _jump(world: World, chance: Random, _part: str) -> Mend:
    set_clock(world.clock, chance.choice(JUMPS_S))
    return lambda: set_clock(world.clock, 0.0)


KINDS = [FaultKind(Kind("clock jump", "clock", (0.3, 3.0)), _jump, loosens=False)]

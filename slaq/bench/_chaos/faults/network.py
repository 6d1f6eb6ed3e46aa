"""How the tricks of the network become faults: in force in the proxy from their beginning to their end."""

from collections.abc import Callable
from random import Random

from slaq.bench._chaos.faults.kind import FaultKind, Mend
from slaq.bench._chaos.plan import Kind
from slaq.bench._chaos.proxy import Trick
from slaq.bench._chaos.world import World

Make = Callable[[World, Random], Trick]


def network_fault(name: str, make: Make, longest_s: float = 3.0, loosens: bool = True) -> FaultKind:
    """A fault of the network; several may be in force at once, each only once."""

    def inject(world: World, chance: Random, part: str) -> Mend:
        world.proxy.tricks[part] = make(world, chance)

        def mend() -> None:
            world.proxy.tricks.pop(part, None)

        return mend

    return FaultKind(Kind(name, f"network: {name}", (0.3, longest_s)), inject, loosens)

"""A kind of fault: what the plan knows of it, and how it is done."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from slaq.bench._chaos.plan import Kind
from slaq.bench._chaos.world import World

Mend = Callable[[], None]
PROCESSES = 3
"""Processes of agents in a run."""


def nothing() -> None:
    """There is nothing to mend."""


def always() -> bool:
    """It can be done everywhere."""
    return True


@dataclass(frozen=True, slots=True)
class FaultKind:
    """`inject` does it to a world and returns what mends it."""

    plan: Kind
    inject: Callable[[World, Random, str], Mend]
    """inject(world, chance, part)"""
    loosens: bool = True
    """Whether drivers may hold more than was decided until a lease after its end."""
    possible: Callable[[], bool] = always
    """Whether this user may do it on this machine."""

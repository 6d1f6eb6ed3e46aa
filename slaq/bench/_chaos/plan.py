"""Which faults come when: a pure function of the seed."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

PAUSE_S = 0.3
"""Between two faults of one part."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What the plan has to know of a kind of fault."""

    name: str
    part: str
    """What it hits: two faults of one part never overlap."""
    lasts_s: tuple[float, float] = (0.0, 0.0)
    """The shortest and the longest time until it is mended."""
    needs: tuple[str, ...] = ()
    """Other parts that must be whole meanwhile."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a run."""

    kind: Kind
    at_s: float
    """Since the run began."""
    lasts_s: float
    seed: int
    """For whatever else the fault draws."""

    @property
    def end_s(self) -> float:
        """When it is mended."""
        return self.at_s + self.lasts_s


def plan(seed: int, count: int, span_s: float, kinds: Sequence[Kind]) -> list[Fault]:
    """So many faults within the span, in the order of their beginnings; each kind comes before one comes twice.

    Fewer, if the faults of a part need more time than there is.
    """
    chance = Random(seed)
    left: list[Kind] = []
    found: list[Fault] = []
    for _ in range(20 * count):
        if len(found) == count or not kinds:
            break
        if not left:
            left = chance.sample(list(kinds), len(kinds))
        kind = left.pop()
        lasts_s = round(chance.uniform(*kind.lasts_s), 3)
        at_s = round(chance.uniform(0.0, max(span_s - lasts_s, 0.0)), 3)
        fault = Fault(kind, at_s, lasts_s, chance.randrange(2**32))
        if not any(_meet(fault, other) for other in found):
            found.append(fault)
    return sorted(found, key=lambda fault: fault.at_s)


def _meet(one: Fault, other: Fault) -> bool:
    """Whether two faults hit the same part at the same time."""
    parts = {one.kind.part, *one.kind.needs} & {other.kind.part, *other.kind.needs}
    return bool(parts) and one.at_s < other.end_s + PAUSE_S and other.at_s < one.end_s + PAUSE_S

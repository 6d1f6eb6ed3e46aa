"""The kinds of faults, one file for each family."""

from slaq.bench._chaos.faults import (
    clock,
    conf,
    cut,
    damage,
    disk,
    drop,
    freeze,
    garbage,
    half_open,
    kill,
    reorder,
    repeat,
    restart,
    slow,
    versions,
)
from slaq.bench._chaos.faults.kind import FaultKind

_FAMILIES = (
    kill, freeze, restart, disk, damage, clock, conf, slow, cut, half_open, drop, repeat, reorder, garbage, versions,
)  # fmt: skip

ALL: list[FaultKind] = [kind for family in _FAMILIES for kind in family.KINDS]


def names() -> list[str]:
    """What `--faults` takes."""
    return sorted({kind.plan.name for kind in ALL})


def possible(wanted: frozenset[str]) -> list[FaultKind]:
    """The kinds of these names (of all, if there are none) that this user may do here."""
    return [kind for kind in ALL if (not wanted or kind.plan.name in wanted) and kind.possible()]

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
    spark_freeze,
    spark_kill,
    versions,
)
from slaq.bench._chaos.faults.kind import FaultKind

_FAMILIES = (
    kill, freeze, restart, disk, damage, clock, conf, slow, cut, half_open, drop, repeat, reorder, garbage, versions,
)  # fmt: skip

ALL: list[FaultKind] = [kind for family in _FAMILIES for kind in family.KINDS]
IN_SPARK: list[FaultKind] = [*spark_kill.KINDS, *spark_freeze.KINDS]
"""These need a Spark."""


def names() -> list[str]:
    """What `--faults` takes."""
    return sorted({kind.plan.name for kind in (*ALL, *IN_SPARK)})


def possible(wanted: frozenset[str], spark: bool = False) -> list[FaultKind]:
    """The kinds of these names (of all, if there are none) that this user may do here."""
    kinds = [*ALL, *IN_SPARK] if spark else ALL
    return [kind for kind in kinds if (not wanted or kind.plan.name in wanted) and kind.possible()]

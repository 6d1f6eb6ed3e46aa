"""What is told of a fit so that past fits can be compared with it: numbers and words of its setup, none of its data."""

from collections.abc import Mapping
from math import isfinite

from slaq.records import MOST_PARAMS, NO_TRAITS, Param, Traits
from slaq.spark.records import JobUsage

LONGEST = 40
"""Of names and words; longer ones are left out."""

_IMMATERIAL = frozenset({"seed", "maxIter", "checkpointInterval", "cacheNodeIds"})
"""Parameters that say nothing of what a fit costs. The number of iterations is told on its own."""


def known_traits(
    params: Mapping[str, bool | int | float | str | None], usage: JobUsage, before: Traits = NO_TRAITS
) -> Traits:
    """The traits as far as they are known by now. Sizes only grow: the same fit ends with the same ones."""
    kept: dict[str, Param] = {}
    for name, value in sorted(params.items()):
        if value is not None and _tells(name, value) and len(kept) < MOST_PARAMS:
            kept[name] = value if isinstance(value, bool | str) else float(value)
    # Rounded: a fit that declares itself anew for every kilobyte would be news all the time.
    read = float(f"{usage.task_bytes * usage.partitions:.2g}")
    widest, most = max(float(usage.partitions), before.partitions or 0.0), max(read, before.bytes or 0.0)
    return Traits(kept, partitions=widest or None, bytes=most or None)


def _tells(name: str, value: bool | float | str) -> bool:
    if name in _IMMATERIAL or name.endswith(("Col", "Cols", "Dir")) or len(name) > LONGEST:
        return False
    return len(value) <= LONGEST if isinstance(value, str) else isfinite(value)

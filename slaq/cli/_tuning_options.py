"""`--set name=value`: other numbers of `Tuning` for a simulation, one run for every combination of values."""

import math
from collections.abc import Sequence
from itertools import product

from msgspec import structs

from slaq.errors import SlaqError
from slaq.model import Tuning

Changes = dict[str, float]
"""What differs from the defaults, by the name of the field."""


def combinations(settings: Sequence[str]) -> list[Changes]:
    """Every combination of the values of `name=value[,value…]`; one without changes if there are no settings."""
    chosen: dict[str, list[float]] = {}
    for setting in settings:
        name, _, values = setting.partition("=")
        if name in chosen:
            raise SlaqError(f"--set {name} is given twice; separate several values by commas: --set {name}=1,2")
        chosen[_known(name)] = [_value(name, value) for value in values.split(",")]
    return [dict(zip(chosen, values, strict=True)) for values in product(*chosen.values())]


def tuned(changes: Changes) -> Tuning:
    """The defaults with these changes."""
    return structs.replace(Tuning(), **changes)


def _known(name: str) -> str:
    names = [field.name for field in structs.fields(Tuning)]
    if name not in names:
        raise SlaqError(f"--set {name}: there is no such number; choose one of {', '.join(names)}")
    return name


def _value(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 <= value < math.inf:
        raise SlaqError(f"--set {name}={text}: give a finite number, 0 or more, such as --set {name}=1.5")
    return value

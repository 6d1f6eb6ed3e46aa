"""Reading a wish: by when a job should end, what its end is worth, and whether somebody watches it."""

import math
import re
from collections.abc import Sequence
from typing import Any, get_args

import msgspec

from slaq.errors import SlaqError
from slaq.records import LONGEST_S, Kind, Preset, Sigmoid, Wish

PRESETS: tuple[str, ...] = get_args(Preset)
KINDS: tuple[str, ...] = get_args(Kind)

_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
"""Spark's units of time, in seconds."""

_NUMBERS = "three numbers: worth (above 0), urgency per second (0 or more) and target in seconds, as in 1,0.5,600"


def wished(deadline: float | str | None, utility: str | Sequence[float] | None, kind: str | None) -> Wish:
    """The wish, from what a user wrote; a SlaqError names the value and says what to write instead."""
    if kind is not None and kind not in KINDS:
        raise SlaqError(f"the class is {kind!r:.80}; give {' or '.join(KINDS)}")
    wish = Wish(_deadline(deadline), None if utility is None else _utility(utility), _as(kind, Kind | None))
    if isinstance(wish.utility, tuple) and wish.deadline_s is not None:
        raise SlaqError(
            f"a deadline of {wish.deadline_s:g} s and a utility of three numbers: the third is the target, so leave "
            "the deadline out"
        )
    if wish.utility in ("time-critical", "time-sensitive") and wish.deadline_s is None:
        raise SlaqError(f"the utility is {wish.utility!r} and there is no deadline; give one as well, such as 20min")
    return wish


def seconds(text: str) -> float | None:
    """The seconds in a time as Spark writes it, such as 500ms or 20min; None if it is none."""
    found = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*([a-z]+)", text.strip().lower())
    if found is None or found[2] not in _UNITS:
        return None
    unit_s = _UNITS[found[2]]
    # Divided, not multiplied, where the unit is below a second: 300ms is 0.3 exactly.
    return float(found[1]) * unit_s if unit_s >= 1.0 else float(found[1]) / round(1.0 / unit_s)


def _deadline(given: float | str | None) -> float | None:
    if given is None:
        return None
    found = seconds(given) if isinstance(given, str) else given
    if isinstance(given, str) and found is None:
        found = _number(given)
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0.0 < found <= LONGEST_S:
        raise SlaqError(f"the deadline is {given!r:.80}; give the time that the job should take at most, such as 20min")
    return float(found)


def _utility(given: str | Sequence[float]) -> Any:
    if given in PRESETS:
        return given
    parts = given.split(",") if isinstance(given, str) else given
    try:
        numbers = tuple(float(part) for part in parts)
        return _as(numbers, Sigmoid)
    except (TypeError, ValueError):
        raise SlaqError(f"the utility is {given!r:.80}; give one of {', '.join(PRESETS)}, or {_NUMBERS}") from None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _as(value: Any, kind: Any) -> Any:
    if isinstance(value, tuple) and not all(map(math.isfinite, value)):
        raise ValueError(value)
    return msgspec.convert(value, kind)

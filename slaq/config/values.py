"""Checking one value against its key: the typed value, or a sentence about what to give instead."""

import math
from pathlib import Path
from typing import Any

from slaq.config.keys import Key
from slaq.errors import SlaqError
from slaq.protocol.wishes import seconds

_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


def checked(key: Key, value: object, folder: Path | None = None) -> Any:
    """The value as the record holds it; a relative path starts at `folder`, if given."""
    typed = _typed(key, _seconds(value) if key.rule.time and isinstance(value, str) else value)
    if isinstance(typed, str):
        _check_text(key, typed)
        return _expanded(typed, folder) if key.rule.path and typed else typed
    if not isinstance(typed, bool) and not key.rule.low <= typed <= key.rule.high:
        raise SlaqError(f"is {value!r}; give {wanted(key)}")
    return typed


def as_float(value: float) -> float:
    """The number as a float, or a SlaqError if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        raise SlaqError("is a number of more than 308 digits; give a smaller one") from None


def default(key: Key) -> Any:
    """The value of a key that is not set."""
    return _expanded(key.default, None) if key.rule.path and key.default else key.default


def from_text(key: Key, text: str) -> Any:
    """The value of a text, as the environment, Spark and flags give it."""
    text = text.strip()
    parsed: object = text
    if key.kind is bool:
        lower = text.lower()
        parsed = True if lower in _TRUE else False if lower in _FALSE else text
    elif key.kind is not str:
        for read in (int, float) if key.kind is float else (int,):
            try:
                parsed = read(text)
                break
            except ValueError:
                continue
    return checked(key, parsed)


def wanted(key: Key) -> str:
    """What a key takes, in words."""
    choices = _either([f'"{choice}"' for choice in key.rule.allowed()])
    if key.kind is bool:
        return "true or false"
    if key.kind is str:
        return choices or "a text in quotes"
    number = "a whole number" if key.kind is not float else "a number"
    if math.isfinite(key.rule.high):
        number += f" from {key.rule.low:.12g} to {key.rule.high:.12g}"
    elif math.isfinite(key.rule.low):
        number += f", {key.rule.low:.12g} or more"
    if key.rule.time:
        number += ', or a time such as "500ms"'
    return f"{number}, or {choices}" if choices else number


def _either(choices: list[str]) -> str:
    """The choices as people list them: `a, b or c`."""
    *others, last = choices or [""]
    return f"{', '.join(others)} or {last}" if others else last


def _seconds(text: str) -> float | str:
    """The seconds in a time as Spark writes it; the text itself if it is none."""
    found = seconds(text)
    return text if found is None else found


def _typed(key: Key, value: object) -> Any:
    if key.kind is float and isinstance(value, int) and not isinstance(value, bool):
        return as_float(value)
    right = isinstance(value, key.kind) and (key.kind is bool or not isinstance(value, bool))
    if not right or (isinstance(value, float) and math.isnan(value)):
        raise SlaqError(f"is {value!r}; give {wanted(key)}")
    return value


def _check_text(key: Key, text: str) -> None:
    # The default comes first: the names of the policies load numpy, which drivers can do without.
    if key.rule.choices and text != key.default and text not in key.rule.allowed():
        raise SlaqError(f"is {text!r}; give {wanted(key)}")
    if any(ord(character) < 32 for character in text):
        raise SlaqError(f"is {text!r}; give a text without control characters")


def _expanded(text: str, folder: Path | None) -> str:
    try:
        path = Path(text).expanduser()
    except RuntimeError:
        raise SlaqError(f"is {text!r}, and there is no such user here; give a path without ~") from None
    return str(path if folder is None else folder / path)

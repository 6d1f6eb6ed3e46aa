"""Warnings to the user: one per kind, through logging, never an exception into training; every one is counted."""

import logging
import threading
from collections import Counter

log = logging.getLogger("slaq")

_counts: Counter[str] = Counter()
_lock = threading.Lock()


def once(kind: str, sentence: str, *values: object) -> None:
    """Log a warning the first time something of this kind happens; count every time."""
    with _lock:
        _counts[kind] += 1
        first = _counts[kind] == 1
    if first:
        log.warning("SLAQ: " + sentence, *values)


def counts() -> dict[str, int]:
    """How often each kind of warning was due in this process."""
    with _lock:
        return dict(_counts)


def forget() -> None:
    """Count from zero, so that the next warning of each kind is logged again."""
    with _lock:
        _counts.clear()

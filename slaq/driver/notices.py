"""Sentences to the user: one per kind of mistake, on stderr through logging, never an exception into training."""

import logging
import threading
from collections import Counter

log = logging.getLogger("slaq")

_counts: Counter[str] = Counter()
_lock = threading.Lock()


def once(kind: str, sentence: str, *values: object) -> None:
    """Log a sentence the first time something of this kind happens; every time is counted."""
    with _lock:
        _counts[kind] += 1
        first = _counts[kind] == 1
    if first:
        log.warning("SLAQ: " + sentence, *values)


def counts() -> dict[str, int]:
    """How often each kind of mistake happened in this process."""
    with _lock:
        return dict(_counts)


def forget() -> None:
    """Start counting anew, so that the next mistake of each kind is told again."""
    with _lock:
        _counts.clear()

"""Texts and numbers for a terminal. Names come from users: nothing in them may move the cursor or change colours."""

import math
import time
import unicodedata
from collections.abc import Iterable, Mapping


def plain(text: str) -> str:
    """The text with invisible characters (control, format, direction) written as escapes."""
    return "".join(
        c if unicodedata.category(c)[0] != "C" else c.encode("unicode_escape", "replace").decode() for c in text
    )


def number(value: float | None, digits: int = 4) -> str:
    """A number in a few digits; a dash for none."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.{digits}g}"


def cores(value: float | None) -> str:
    """A number of cores; None and infinity are no limit."""
    return "∞" if value is None or math.isinf(value) else f"{round(value, 2):g}"


def duration(seconds: float | None) -> str:
    """A time span in its two largest units."""
    if seconds is None or not math.isfinite(seconds):
        return "-"
    whole = max(int(seconds), 0)
    for unit, size, below, small in (("d", 86400, "h", 3600), ("h", 3600, "m", 60), ("m", 60, "s", 1)):
        if whole >= size:
            return f"{whole // size}{unit}{whole % size // small:02d}{below}"
    return f"{seconds:.1f}s" if seconds < 10 else f"{whole}s"


def instant(at: float | None) -> str:
    """Local date and time; a dash for none."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at)) if at else "-"
    except (OverflowError, ValueError, OSError):  # no calendar goes that far
        return "-"


def bar(share: float | None, width: int = 10) -> str:
    """A bar filled to a share between 0 and 1."""
    if share is None or not math.isfinite(share):
        return " " * width
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")).ljust(width)


def counts(by_state: Mapping[str, int], states: Iterable[str] | None = None) -> str:
    """Numbers of jobs by state, those of no job left out."""
    chosen = by_state if states is None else states
    return ", ".join(f"{by_state[state]} {plain(state)}" for state in chosen if by_state.get(state)) or "none"

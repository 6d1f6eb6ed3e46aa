"""Texts and numbers for a terminal. Names come from users: nothing in them may move the cursor or change colours."""

import math
import time
import unicodedata

from rich.text import Text


def plain(text: str) -> str:
    """The text with everything invisible (control, format and direction characters) written out."""
    return "".join(
        c if unicodedata.category(c)[0] != "C" else c.encode("unicode_escape", "replace").decode() for c in text
    )


def shown(text: str) -> Text:
    """The text for a rich table: its brackets are brackets, not markup."""
    return Text(plain(text))


def number(value: float | None, digits: int = 4) -> str:
    """A number in a few digits; a dash where there is none."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.{digits}g}"


def cores(value: float | None) -> str:
    """A number of cores; None is no limit."""
    return "∞" if value is None or math.isinf(value) else f"{round(value, 2):g}"


def duration(seconds: float | None) -> str:
    """A time span with its two largest units."""
    if seconds is None or not math.isfinite(seconds):
        return "-"
    whole = max(int(seconds), 0)
    for unit, size, below, small in (("d", 86400, "h", 3600), ("h", 3600, "m", 60), ("m", 60, "s", 1)):
        if whole >= size:
            return f"{whole // size}{unit}{whole % size // small:02d}{below}"
    return f"{seconds:.1f}s" if seconds < 10 else f"{whole}s"


def instant(at: float | None) -> str:
    """Local date and time; a dash where there is none."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at)) if at else "-"


def bar(share: float | None, width: int = 10) -> str:
    """A bar filled to a share between 0 and 1."""
    if share is None or not math.isfinite(share):
        return " " * width
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")).ljust(width)

"""Rows at the bottom of a terminal that nothing else writes to.

The terminal itself keeps them apart: everything else scrolls in the region above (DECSTBM), be it what the program
prints, a prompt, or Spark's own progress bar, from whichever process. Every change is one write, which the kernel does
not mix with those of others, and leaves the cursor where it was.
"""

import os
from collections.abc import Sequence

SMALLEST = 8
"""Rows of a terminal in which some can be spared."""

_SAVE, _RESTORE, _CLEAR, _DOWN = "\x1b7", "\x1b8", "\x1b[2K", "\x1bD"
_WRAP, _NO_WRAP = "\x1b[?7h", "\x1b[?7l"


def usable(descriptor: int) -> bool:
    """Whether the descriptor is a terminal that understands what is written here."""
    return os.isatty(descriptor) and os.environ.get("TERM", "dumb") not in ("", "dumb", "unknown")


class Bottom:
    """The reserved rows; none until something is shown, and none after `close`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._taken = 0
        self._size = (0, 0)

    @property
    def columns(self) -> int:
        """Of the terminal, now."""
        return os.get_terminal_size(self._descriptor).columns

    @property
    def room(self) -> int:
        """Rows that can be taken: a third of the terminal."""
        rows = os.get_terminal_size(self._descriptor).lines
        return rows // 3 if rows >= SMALLEST else 0

    def show(self, rows: Sequence[str]) -> None:
        """Show these rows of printable text; more of them than before take more of the terminal."""
        size = os.get_terminal_size(self._descriptor)
        rows = [row[: size.columns] for row in rows[: self.room]]
        wanted = max(len(rows), self._taken if size == self._size else 0)
        if not wanted:
            self.close()
            return
        parts = []
        if wanted != self._taken or size != self._size:
            parts.append(self._released(size.lines))
            # Room below the cursor first: the region must end below it.
            parts.append(_DOWN * wanted + f"\x1b[{wanted}A")
            parts.append(f"{_SAVE}\x1b[1;{size.lines - wanted}r{_RESTORE}")
        self._taken, self._size = wanted, size
        parts.append(_SAVE + _NO_WRAP)
        for place in range(wanted):
            text = rows[place] if place < len(rows) else ""
            parts.append(f"\x1b[{size.lines - wanted + place + 1};1H{_CLEAR}{text}")
        parts.append(_WRAP + _RESTORE)
        self._write("".join(parts))

    def close(self) -> None:
        """Give the rows back, empty."""
        if self._taken:
            self._write(self._released(os.get_terminal_size(self._descriptor).lines))
        self._taken, self._size = 0, (0, 0)

    def _released(self, lines: int) -> str:
        if not self._taken:
            return ""
        rows = "".join(f"\x1b[{lines - place};1H{_CLEAR}" for place in range(min(self._taken, lines)))
        return f"{_SAVE}\x1b[r{rows}{_RESTORE}"

    def _write(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

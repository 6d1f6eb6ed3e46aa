"""A terminal for tests: a pseudo-terminal of the kernel, and an emulator that draws what is written to it."""

import fcntl
import os
import pty
import struct
import termios
import threading
import time
from collections.abc import Callable

import pyte


class Terminal:
    """`descriptor` is the program's side; `lines()` is what a user sees."""

    def __init__(self, rows: int = 20, columns: int = 100) -> None:
        self._ours, self.descriptor = pty.openpty()
        os.set_blocking(self._ours, False)
        self.screen = pyte.HistoryScreen(columns, rows, history=1000)
        self._stream = pyte.ByteStream(self.screen)
        self.resize(rows, columns)
        self._lock = threading.Lock()
        self._open = True
        self._reader = threading.Thread(target=self._follow, daemon=True)
        self._reader.start()

    def resize(self, rows: int, columns: int) -> None:
        """As if the user pulled at a corner of the window."""
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def prints(self, text: str) -> None:
        """Whatever else writes to the terminal."""
        os.write(self.descriptor, text.encode())

    def lines(self) -> list[str]:
        """The rows of the screen, from its top, without what is blank at their ends."""
        self.read()
        return [line.rstrip() for line in self.screen.display]

    def scrolled(self) -> list[str]:
        """The lines that have left the screen at its top."""
        return [
            "".join(line[column].data for column in range(self.screen.columns)).rstrip()
            for line in self.screen.history.top
        ]

    def read(self) -> None:
        """Draw what was written since."""
        with self._lock:
            while True:
                try:
                    self._stream.feed(os.read(self._ours, 65536))
                except BlockingIOError:
                    return

    def _follow(self) -> None:
        """A terminal that nobody reads takes a few kilobytes, then its writers wait."""
        while self._open:
            self.read()
            time.sleep(0.01)

    def until(self, seen: Callable[[list[str]], bool], timeout_s: float = 60.0) -> list[str]:
        """Wait for the screen to look so."""
        deadline = time.monotonic() + timeout_s
        while not seen(found := self.lines()):
            assert time.monotonic() < deadline, "\n".join(found)
            time.sleep(0.02)
        return found

    def close(self) -> None:
        """Give both sides back."""
        self._open = False
        self._reader.join()
        os.close(self.descriptor)
        os.close(self._ours)

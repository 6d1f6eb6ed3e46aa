"""The lease of the grants in force: when it expires, jobs run unthrottled, whatever the network does."""

import threading
import time
from collections.abc import Callable


class Lease:
    """Counts down on its own thread, so that an exchange that hangs cannot hold it up.

    `apply` and `expire` are never at work at the same time.
    """

    def __init__(self, expire: Callable[[], None]) -> None:
        self._expire = expire
        self._changed = threading.Condition()
        self._ends: float | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="slaq-lease", daemon=True)
        self._thread.start()

    def renew(self, ends: float, apply: Callable[[], None]) -> bool:
        """Put grants into force until `ends` on the monotonic clock; nothing, and False, if that is past."""
        with self._changed:
            if self._closed or ends <= time.monotonic():
                return False
            apply()
            sooner = self._ends is None or ends < self._ends
            self._ends = ends
            if sooner:  # otherwise the thread wakes up by itself, early, and sleeps on
                self._changed.notify()
            return True

    @property
    def holds(self) -> bool:
        """Whether grants are in force."""
        return self._ends is not None

    def close(self) -> None:
        """End the lease now."""
        with self._changed:
            self._closed = True
            self._finish()
            self._changed.notify()

    def _run(self) -> None:
        with self._changed:
            while not self._closed:
                left = None if self._ends is None else self._ends - time.monotonic()
                if left is not None and left <= 0.0:
                    self._finish()
                else:
                    self._changed.wait(left)

    def _finish(self) -> None:
        if self._ends is not None:
            self._ends = None
            self._expire()

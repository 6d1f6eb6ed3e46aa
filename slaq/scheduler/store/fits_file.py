"""The file in which drivers without a central scheduler keep what their fits took: one line of JSON per fit.

Several drivers append to it at the same time, each under the lock of a file beside it. Who finds it twice as long as it
should be puts a shorter one in its place.
"""

import fcntl
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from slaq.model import PastFit
from slaq.predict.past_fits import MOST_FITS
from slaq.scheduler.store.files import move_aside

HEADER = b'{"slaq_fits":1}'
"""The first line names the format."""
LARGEST = 32_000_000
"""Bytes; a larger file is not one of ours."""
PATIENCE_S = 2.0
"""For how long a driver waits for the others' writing; then what it has to say waits for the next time."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(PastFit).decode


class DamagedError(Exception):
    """The file cannot be read; it was moved away."""


class FitsFile:
    """Every method may raise OSError; `read` and `append` raise DamagedError after they have set a bad file aside."""

    def __init__(self, file: Path, most: int = MOST_FITS) -> None:
        self.file = file
        self._most = most

    def read(self) -> list[PastFit]:
        """The latest fits, oldest first."""
        with self._locked():
            return [_decode(line) for line in self._lines()[0][-self._most :]]

    def append(self, fits: Iterable[PastFit]) -> None:
        """Add fits, all or none."""
        with self._locked():
            (lines, torn), fresh = self._lines(), [_encode(fit) for fit in fits]
            if not lines or torn or len(lines) + len(fresh) > 2 * self._most:
                self._replace([*lines, *fresh][-self._most :])
                return
            with os.fdopen(os.open(self.file, os.O_WRONLY | os.O_APPEND), "wb") as target:
                target.write(b"".join(line + b"\n" for line in fresh))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        folder = self.file.parent
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        beside = self.file.with_name(self.file.name + ".lock")
        with os.fdopen(os.open(beside, os.O_RDWR | os.O_CREAT, 0o600), "w") as lock:
            end_s = time.monotonic() + PATIENCE_S
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > end_s:
                        raise
                    time.sleep(0.01)
            yield

    def _lines(self) -> tuple[list[bytes], bool]:
        """The lines without the header, each of which can be decoded, and whether a crash cut off one more."""
        try:
            with self.file.open("rb") as source:
                content = source.read(LARGEST + 1)
        except FileNotFoundError:
            return [], False
        header, *lines = content.split(b"\n")
        try:
            if header != HEADER or len(content) > LARGEST:
                raise msgspec.DecodeError("it is no file of past fits")
            torn = bool(lines) and bool(lines[-1])
            whole = [line for line in lines[:-1] if line]
            for line in whole:
                _decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            aside = move_aside(self.file)
            raise DamagedError(f"{self.file} could not be used ({error}); it was moved to {aside}") from None
        return whole, torn

    def _replace(self, lines: Sequence[bytes]) -> None:
        fresh = self.file.with_name(f"{self.file.name}.{os.getpid()}.new")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as target:
            target.write(b"".join(line + b"\n" for line in (HEADER, *lines)))
        fresh.replace(self.file)

"""The decision log: every event and every decision, in files that replay to the identical decisions.

A file begins with the engine's whole state, then come epochs. Each piece is compressed msgpack behind its
length; a piece that was cut off by a crash ends the file.
"""

import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from slaq.engine import Effect, Event, State, run
from slaq.errors import SlaqError

PARTS = 4
"""The log is kept in about so many files; the oldest goes when all are full."""
_LARGEST = 1 << 30


class Epoch(msgspec.Struct, frozen=True, array_like=True):
    """What happened in an epoch, in order, and what was decided at its end."""

    events: Sequence[Event]
    effects: Sequence[Effect]


_encode = msgspec.msgpack.Encoder().encode
_state = msgspec.msgpack.Decoder(State)
_epoch = msgspec.msgpack.Decoder(Epoch)


class Journal:
    """Writes the log of one scheduler's life into a folder, within a size."""

    def __init__(self, folder: Path, incarnation: int, size_mb: float) -> None:
        self.size_mb = size_mb
        self._folder = folder
        self._incarnation = incarnation
        self._number = 0
        self._file: BinaryIO | None = None

    def begin(self, state: State) -> None:
        """Start a new file with this state."""
        self.close()
        self._number += 1
        self._file = _private(self._folder / f"decisions-{self._incarnation}-{self._number:06}.log")
        self._write(_encode(state))
        self._drop_old()

    def append(self, epoch: Epoch, state: State) -> None:
        """One more epoch, and the state after it; raises OSError when the disk is full, and may be called again."""
        try:
            if self._file is None:
                self.begin(state)
                return  # the state includes the epoch
            self._write(_encode(epoch))
            if self._file.tell() > self.size_mb * 1e6 / PARTS:
                self.begin(state)
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def _write(self, content: bytes) -> None:
        assert self._file is not None
        packed = zlib.compress(content, 1)
        self._file.write(len(packed).to_bytes(4, "big") + packed)
        self._file.flush()

    def _drop_old(self) -> None:
        files = sorted(self._folder.glob("decisions-*.log"), key=lambda file: file.stat().st_mtime)
        left = sum(file.stat().st_size for file in files)
        for file in files[:-1]:
            if left > self.size_mb * 1e6 * (PARTS - 1) / PARTS:
                left -= file.stat().st_size
                file.unlink(missing_ok=True)


def _private(file: Path) -> BinaryIO:
    """A new file that only its owner may read."""
    return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def replay(file: Path) -> Iterator[tuple[Epoch, State, Sequence[Effect]]]:
    """Every epoch of a log with the state after it and what the engine decides now, given the same events."""
    pieces = _pieces(file)
    try:
        state = _state.decode(next(pieces))
        for piece in pieces:
            epoch = _epoch.decode(piece)
            state, effects = run(state, epoch.events)
            yield epoch, state, effects
    except (StopIteration, msgspec.DecodeError, zlib.error) as error:
        raise SlaqError(f"{file} is no decision log of this version: {error or 'it is empty'}") from None


def _pieces(file: Path) -> Iterator[bytes]:
    with file.open("rb") as source:
        while True:
            length = int.from_bytes(source.read(4), "big")
            if not 0 < length < _LARGEST:
                return
            packed = source.read(length)
            if len(packed) < length:
                return
            yield zlib.decompress(packed)

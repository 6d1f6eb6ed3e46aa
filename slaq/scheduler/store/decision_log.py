"""The decision log of one scheduler's life: files in the format of `slaq.engine.log`, within a size.

Each file begins with the engine's whole state and replays by itself.
"""

from pathlib import Path
from typing import BinaryIO

from slaq.engine import State
from slaq.engine.log import Epoch, epoch_piece, first_pieces
from slaq.scheduler.store.files import new_private

PARTS = 4
"""The log is kept in about so many files; the oldest is deleted when all are full."""


class DecisionLog:
    """Writes the log into a folder. Every method may raise OSError and may be called again after it."""

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
        path = self._folder / f"decisions-{self._incarnation}-{self._number:06}.log"
        self._file = new_private(path)
        try:
            self._write(self._file, first_pieces(state))
        except OSError:
            path.unlink(missing_ok=True)  # nobody can replay it, and a full disk would get one more with every epoch
            raise
        self._drop_old()

    def append(self, epoch: Epoch, state: State) -> None:
        """One more epoch, and the state after it. Without an open file the state begins one and includes the epoch."""
        if self._file is None:
            self.begin(state)
            return
        self._write(self._file, epoch_piece(epoch))
        if self._file.tell() > self.size_mb * 1e6 / PARTS:
            self.begin(state)

    def close(self) -> None:
        """Close the file; the next epoch begins another."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def _write(self, file: BinaryIO, pieces: bytes) -> None:
        """A file that took only part of a piece is not written to again."""
        try:
            file.write(pieces)
            file.flush()
        except OSError:
            self.close()
            raise

    def _drop_old(self) -> None:
        files = sorted(self._folder.glob("decisions-*.log"), key=lambda file: file.stat().st_mtime)
        left = sum(file.stat().st_size for file in files)
        for file in files[:-1]:
            if left > self.size_mb * 1e6 * (PARTS - 1) / PARTS:
                left -= file.stat().st_size
                file.unlink(missing_ok=True)

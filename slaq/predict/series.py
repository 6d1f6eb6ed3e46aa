"""Ragged loss histories packed into one matrix, newest loss first."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slaq.errors import SlaqError
from slaq.records import LOSS_LIMIT

Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]
Losses = Sequence[float] | NDArray[np.floating] | NDArray[np.integer]
"""One job's losses, oldest first."""

WINDOW = 32
"""The most recent usable losses of a job that a forecast looks at."""

TAIL = 64
"""Losses of a job among which these are looked for; older ones are counted but not read, whatever their number."""

# One per length, because looking a format up costs more than packing does.
_PACK = [struct.Struct(f"{length}d").pack for length in range(TAIL + 1)]


@dataclass(frozen=True, slots=True)
class Series:
    """The recent losses of all jobs: row `a` of `losses` holds every job's loss of `a` iterations ago.

    `points` counts the losses of each job, without those found unusable. Cells older than a job's first loss hold
    that first loss, so that differences there are 0; a job without a loss has a column of NaN.
    """

    losses: Matrix
    points: Matrix

    @property
    def jobs(self) -> int:
        """How many histories were packed."""
        return len(self.points)


def pack(histories: Sequence[Losses]) -> Series:
    """All histories as one matrix of WINDOW rows; NaN, infinite and absurdly large losses are left out."""
    tails = [_packed(history, job) for job, history in enumerate(histories)]
    return aligned(tails, np.fromiter(map(len, histories), dtype=np.int64, count=len(tails)))


def aligned(tails: Sequence[bytes], points: NDArray[np.int64]) -> Series:
    """The same from the ends of the histories as packed 64-bit floats, and the number of losses in each whole one."""
    flat = np.frombuffer(b"".join(tails), dtype=np.float64)
    read = np.fromiter(map(len, tails), dtype=np.int64, count=len(tails)) // flat.itemsize
    usable = np.abs(flat) <= LOSS_LIMIT  # False for NaN, too
    if usable.all():
        return _align(flat, read, points)
    ends = np.cumsum(read)
    counted = np.concatenate(([0], np.cumsum(usable)))
    kept = counted[ends] - counted[ends - read]
    # With so many unusable losses that the window is not full, nothing is known about the older ones either.
    return _align(flat[usable], kept, np.where(kept < WINDOW, kept, points - (read - kept)))


def _packed(history: Losses, job: int) -> bytes:
    """The end of one history as machine numbers, or a SlaqError if it holds something that is no number."""
    try:
        tail = history if len(history) <= TAIL else history[-TAIL:]
        if not isinstance(tail, np.ndarray):
            return _PACK[len(tail)](*tail)
        if tail.ndim == 1 and tail.dtype.kind in "fiu":
            return tail.astype(np.float64).tobytes()
        problem = f"an array of shape {tail.shape} and type {tail.dtype}"
    except (TypeError, OverflowError, struct.error) as error:
        problem = f"{history!r:.80}: {error}"
    raise SlaqError(f"History {job} is no sequence of loss values ({problem}); give one number per iteration.")


def _align(flat: Matrix, read: NDArray[np.int64], points: NDArray[np.int64]) -> Series:
    """Cut the concatenated tails into columns that all begin with their newest loss."""
    if not len(flat):
        return Series(np.full((WINDOW, len(read)), np.nan), np.zeros(len(read)))
    age = np.minimum(np.arange(WINDOW)[:, None], np.maximum(read - 1, 0))
    losses = flat[np.maximum(np.cumsum(read) - 1, 0) - age]
    losses[:, read == 0] = np.nan
    return Series(losses, points.astype(np.float64))

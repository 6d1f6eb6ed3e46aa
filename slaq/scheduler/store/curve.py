"""A curve of bounded size: when it is full every second point goes, so that it always spans the whole run."""

from array import array
from collections.abc import Iterator
from struct import pack_into

from msgspec import Struct

_NUMBER = 8  # bytes


class Points(Struct, frozen=True):
    """A curve as it is kept on disk."""

    width: int
    """Numbers in a point."""
    packed: bytes = b""
    stride: int = 1
    """Every so many-th point was kept, and the latest."""
    seen: int = 0
    latest: tuple[float, ...] = ()

    def __iter__(self) -> Iterator[tuple[float, ...]]:
        numbers = array("d", self.packed)
        for at in range(0, len(numbers), self.width):
            yield tuple(numbers[at : at + self.width])
        if self.seen and (self.seen - 1) % self.stride:
            yield self.latest


class Curve:
    """A curve that grows; all its memory is taken at the start, so that a scheduler's memory stays flat."""

    __slots__ = ("_buffer", "_format", "_length", "_size", "_stride", "latest", "seen")

    def __init__(self, most: int, past: Points) -> None:
        """A curve of at most so many points that goes on from `past`."""
        self._format = f"={past.width}d"
        self._size = past.width * _NUMBER
        self._buffer = bytearray(most * self._size)
        kept = past.packed[: len(self._buffer) - self._size]
        self._buffer[: len(kept)] = kept
        self._length = len(kept)
        self._stride, self.seen, self.latest = past.stride, past.seen, past.latest

    def add(self, *point: float) -> None:
        """One more point."""
        if self.seen % self._stride == 0:
            pack_into(self._format, self._buffer, self._length, *point)
            self._length += self._size
            if self._length == len(self._buffer):
                self._thin_out()
        self.latest = point
        self.seen += 1

    def points(self) -> Points:
        """The curve as it is now."""
        packed = bytes(self._buffer[: self._length])
        return Points(self._size // _NUMBER, packed, self._stride, self.seen, self.latest)

    def _thin_out(self) -> None:
        size = self._size
        for place, at in enumerate(range(0, self._length, 2 * size)):
            self._buffer[place * size : (place + 1) * size] = self._buffer[at : at + size]
        self._length = (self._length // size + 1) // 2 * size
        self._stride *= 2

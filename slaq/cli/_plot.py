"""Curves in a terminal, drawn with braille characters of two by four dots."""

from collections.abc import Sequence
from itertools import pairwise

from slaq.cli._text import number

Point = tuple[float, float]
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
LABEL = 11
LARGEST = 1e300
"""Beyond it differences of numbers become infinite."""

DOTTED = 4
"""Of a dotted curve every so many-th dot is drawn."""


def plot(
    points: Sequence[Point], width: int = 60, height: int = 10, steps: bool = False, ahead: Sequence[Point] = ()
) -> list[str]:
    """Lines of text that draw the points by rising x as a curve with axes; none without finite points.

    With `steps` a value holds until the next point. `ahead` goes on from the last point and is dotted.
    """
    finite, expected = _finite(points), _finite(ahead)
    if not finite:
        return []
    xs, ys = [x for x, _ in (*finite, *expected)], [y for _, y in (*finite, *expected)]
    low, high = min(ys), max(ys)
    if steps:
        low = min(low, 0.0)
    columns, rows = width * 2, height * 4

    def column(x: float) -> int:
        return round((x - xs[0]) / (xs[-1] - xs[0]) * (columns - 1)) if xs[-1] > xs[0] else 0

    def row(y: float) -> int:
        return round((high - y) / (high - low) * (rows - 1)) if high > low else rows - 1

    cells = [[0] * width for _ in range(height)]
    for x, y in _trace([(column(x), row(y)) for x, y in finite], steps):
        cells[y // 4][x // 2] |= _DOTS[y % 4][x % 2]
    for x, y in _trace([(column(x), row(y)) for x, y in expected], False)[::DOTTED]:
        cells[y // 4][x // 2] |= _DOTS[y % 4][x % 2]
    labels = {0: number(high), height - 1: number(low)}
    lines = [
        f"{labels.get(at, ''):>{LABEL}} ┤{''.join(chr(0x2800 + dots) for dots in cells[at])}" for at in range(height)
    ]
    left, right = number(xs[0]), number(xs[-1])
    return [*lines, " " * LABEL + " └" + "─" * width, " " * (LABEL + 2) + left + right.rjust(width - len(left))]


def _finite(points: Sequence[Point]) -> list[Point]:
    """The points that can be drawn, in order: the clock that gave their x may have gone back."""
    return sorted(((x, y) for x, y in points if abs(x) <= LARGEST and abs(y) <= LARGEST), key=lambda point: point[0])


def _trace(points: list[tuple[int, int]], steps: bool) -> list[tuple[int, int]]:
    """Every dot on the lines between neighbouring points."""
    dots = points[:1]
    for (x0, y0), (x1, y1) in pairwise(points):
        corners = [(x0, y0), (x1, y0), (x1, y1)] if steps else [(x0, y0), (x1, y1)]
        for (a, b), (c, d) in pairwise(corners):
            count = max(abs(c - a), abs(d - b), 1)
            dots += [(a + round((c - a) * i / count), b + round((d - b) * i / count)) for i in range(1, count + 1)]
    return dots

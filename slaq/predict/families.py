"""The paper's two families of loss curves (SLAQ §4.2.2), written so that only their shape has to be searched for.

Either curve is level + fall · rise(age). `rise` is 0 now, positive at an age in the past, and falls towards -1 in the
future: `level` is the loss now, `level - fall` the loss in the end. Both follow from a shape by linear least squares.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from slaq.predict.series import Matrix

STEEPEST = 4.0
"""Largest rate of the exponential family, per iteration: what is left after one iteration is 2 % of the way."""


@dataclass(frozen=True, slots=True)
class Family:
    """A family of curves; a shape is one or two coordinates from 0 to `last`."""

    rise: Callable[[Matrix, Matrix, Matrix], Matrix]
    """rise(shape, age, points): ages × jobs, from coordinates × jobs, ages (negative ahead) and losses so far."""
    usual: tuple[float, ...]
    """The shape that is taken where several fit equally well, as they do through two losses."""
    last: tuple[float, ...]
    spacing: tuple[float, ...]

    def grid(self) -> list[tuple[float, ...]]:
        """The shapes at which a search begins: middles of cells, since shapes at the edges are alike in the other
        coordinate."""
        axes = (np.arange(gap / 2.0, end, gap) for end, gap in zip(self.last, self.spacing, strict=True))
        return list(product(*axes))


def _sublinear(shape: Matrix, age: Matrix, points: Matrix) -> Matrix:
    """1/(a k² + b k + c) with a, b, c ≥ 0 and k counted from the first loss.

    With the curve's denominator as 1 now and the age y in units of all iterations so far, it is 1 - s·y + q·y², where
    a, b, c ≥ 0 say that q lies between max(0, s - 1) and s/2. The first coordinate halves s from 2 on, the
    second goes from the smallest q to the largest: from 1/(b k + c) to 1/(a k² + c) while s ≤ 1.
    """
    slope = 2.0 ** (1.0 - shape[0])
    least = np.maximum(slope - 1.0, 0.0)
    bend = least + shape[1] * (0.5 * slope - least)
    relative = age / points
    missing = relative * (slope - bend * relative)
    return np.asarray(missing / (1.0 - missing))


def _exponential(shape: Matrix, age: Matrix, points: Matrix) -> Matrix:  # noqa: ARG001
    """μ^(k - b) with μ < 1; the coordinate halves the rate -log μ from STEEPEST on."""
    return np.asarray(np.expm1(age * (STEEPEST * 0.5 ** shape[0])))


SUBLINEAR = Family(_sublinear, usual=(1.0, 0.0), last=(7.0, 1.0), spacing=(1.0, 0.5))
EXPONENTIAL = Family(_exponential, usual=(3.0,), last=(12.0,), spacing=(1.5,))

"""The two shapes a falling loss is continued with; both fall more and more slowly and never rise again."""

from dataclasses import dataclass

import numpy as np

from slaq.predict.series import Matrix

REACH = 20.0
"""However far ahead is asked for, a curve is followed for less than this many times the iterations behind it."""

STEEPEST = 6.0
"""Largest exponent of a power law: beyond it, the loss has as good as stopped."""

FASTEST, SLOWEST = 1e-6, 1.0 - 1e-6
"""Bounds of the ratio between two geometric drops."""


@dataclass(frozen=True, slots=True)
class Way:
    """The iterations from now to each horizon, for all jobs; horizons × jobs."""

    iterations: Matrix
    points: Matrix
    start: Matrix
    """Logarithm of where the way begins over the iterations so far, and below where it ends."""
    end: Matrix


def way_ahead(ahead: Matrix, points: Matrix) -> Way:
    """The way ahead (a column of horizons) for jobs with so many points."""
    iterations = ahead / (1.0 + ahead / (REACH * points))
    # A sum of drops is the integral from half an iteration after now to half an iteration after the end.
    return Way(iterations, points, np.log1p(0.5 / points), np.log1p((iterations + 0.5) / points))


@dataclass(frozen=True, slots=True)
class PowerLaw:
    """Drops that shrink like iteration^-exponent, the paper's sublinear convergence; exponent 0 is a straight line."""

    pace: Matrix
    """The drop per iteration now."""
    exponent: Matrix

    def fall(self, way: Way) -> Matrix:
        """How far the loss falls on the way; horizons × jobs."""
        rest = 1.0 - self.exponent
        rest = np.where(np.abs(rest) < 1e-4, 1e-4, rest)
        fall = way.end * rest
        np.exp(fall, out=fall)
        fall -= np.exp(way.start * rest)
        fall *= self.pace * way.points / rest
        return fall


@dataclass(frozen=True, slots=True)
class Geometric:
    """Drops that shrink by the same ratio every iteration, the paper's linear convergence."""

    pace: Matrix
    ratio: Matrix

    def fall(self, way: Way) -> Matrix:
        """How far the loss falls on the way; horizons × jobs."""
        return np.asarray(-np.expm1(np.log(self.ratio) * way.iterations) * self.pace * self.ratio / (1.0 - self.ratio))


Curve = PowerLaw | Geometric

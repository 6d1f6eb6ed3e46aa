"""What a past fit took, and how it converged."""

from bisect import bisect_left
from collections.abc import Iterable
from itertools import pairwise
from math import inf, isfinite

from msgspec import Struct

from slaq.records import NO_TRAITS, Traits

SHARES = (0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 0.999)
"""Shares of the whole loss reduction whose iterations are kept. From them follows what 90 % is for a fit that ends
sooner, to which it is less."""


class PastFit(Struct, frozen=True, omit_defaults=True):
    """One fit that is over."""

    estimator: str
    traits: Traits = NO_TRAITS
    ready_core_s: float | None = None
    """Core-seconds up to the first loss; None: not known."""
    work_core_s: float | None = None
    """Mean core-seconds of an iteration."""
    serial_s: float = 0.0
    iterations: float = 0.0
    """The number of its last iteration."""
    max_iterations: int | None = None
    reached: tuple[float, ...] = ()
    """The iteration with which each of SHARES was reached; empty: it did not run to its end, or never improved."""

    @property
    def ended_by_itself(self) -> bool:
        """Whether it converged before it had to end."""
        return self.max_iterations is not None and self.iterations < self.max_iterations


def reached(points: Iterable[tuple[float, float]]) -> tuple[float, ...]:
    """The iterations with which a curve of (iteration, loss) first reached each of SHARES; empty if it never fell."""
    curve = [(iteration, loss) for iteration, loss in points if isfinite(loss)]
    if not curve:
        return ()
    best, falls = inf, list[tuple[float, float]]()
    for iteration, loss in curve:
        best = min(best, loss)
        falls.append((iteration, curve[0][1] - best))
    whole = falls[-1][1]
    if not 0.0 < whole < inf:
        return ()
    fallen = [fall / whole for _, fall in falls]
    return tuple(falls[bisect_left(fallen, share)][0] for share in SHARES)


def milestones(past: PastFit, limit: float | None) -> tuple[float, float, float]:
    """The iterations with which such a fit reaches 90 % and 95 % and ends if it may make `limit` iterations at most.

    To end sooner makes the whole reduction smaller, so 90 % of it comes sooner too. One that may go on for longer than
    it did is taken to gain nothing more, and to go on unless it had ended by itself.
    """
    most = past.iterations if limit is None or past.ended_by_itself else limit
    if limit is not None:
        most = min(most, limit)
    whole = _share_at(past, most)
    at_90, at_95 = (min(_iteration_of(past, goal * whole), most) for goal in (0.9, 0.95))
    return at_90, at_95, most


def _corners(past: PastFit) -> list[tuple[float, float]]:
    """(iteration, share) along the curve, both rising."""
    return [(0.0, 0.0), *zip(past.reached, SHARES, strict=True), (max(past.iterations, past.reached[-1]), 1.0)]


def _share_at(past: PastFit, iteration: float) -> float:
    """The share of the whole reduction after so many iterations; straight lines between what is known."""
    for (before, low), (after, high) in pairwise(_corners(past)):
        if iteration < after:
            return low + (high - low) * (iteration - before) / (after - before)
    return 1.0


def _iteration_of(past: PastFit, share: float) -> float:
    for (before, low), (after, high) in pairwise(_corners(past)):
        if share <= high:
            return before + (after - before) * (share - low) / (high - low)
    return past.iterations

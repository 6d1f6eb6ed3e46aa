"""The ways in which a loss may go on: each candidate is a level the loss stands at now and a curve from there."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from slaq.predict.curves import Curve, Way
from slaq.predict.levels import best, mean, trend
from slaq.predict.regression import log_drops, regression
from slaq.predict.series import Matrix
from slaq.predict.stretches import geometric, power_law, slowing, straight
from slaq.predict.window import Window

RECENT = 8
"""Drops whose largest one limits the pace of every forecast."""

NAMES = ("straight", "slowing", "last two", "halves", "regression", "geometric", "mean", "best", "trend")
"""All candidates, in the order of the gate."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """All candidates of all jobs, and what they share with the features of the histories.

    A candidate without a level starts at the newest loss; one without a curve stays at its level.
    """

    window: Window
    levels: Mapping[str, Matrix]
    curves: Mapping[str, Curve]
    logs: Matrix
    falling: Matrix
    fastest: Matrix
    """The largest of the last drops, or 0."""

    def fastest_fall(self, way: Way) -> Matrix:
        """How far the loss falls at the fastest pace of late; horizons × jobs."""
        return np.asarray(way.iterations * self.fastest)

    def fall(self, curve: Curve, way: Way) -> Matrix:
        """How far the loss falls along a curve, but no faster than it did of late; horizons × jobs."""
        return np.minimum(curve.fall(way), self.fastest_fall(way))

    def ends(self, name: str, way: Way) -> Matrix:
        """The loss at the end of the way, relative to the newest one; horizons × jobs."""
        level = self.levels.get(name, np.zeros_like(self.window.points))
        if name not in self.curves:
            return np.broadcast_to(level, way.iterations.shape)
        return np.asarray(level - self.fall(self.curves[name], way))

    def mixed(self, shares: Matrix, way: Way) -> Matrix:
        """The candidates' losses at the end of the way, weighted by `shares`; horizons × jobs.

        Every candidate falls more and more slowly, and the shares do not depend on the horizon: so does the mixture.
        """
        level = np.zeros_like(self.window.points)
        mixture, bound = np.zeros(way.iterations.shape), self.fastest_fall(way)
        for share, name in zip(shares, NAMES, strict=True):
            if name in self.levels:
                level += share * self.levels[name]
            if name in self.curves:
                fall = self.curves[name].fall(way)
                np.minimum(fall, bound, out=fall)
                fall *= share
                mixture -= fall
        mixture += level
        return mixture


def outline(window: Window) -> Candidates:
    """All candidates for all jobs."""
    known = window.known.astype(np.float64)
    logs, falling = log_drops(window)
    trend_level, trend_curve = trend(window, known)
    curves: dict[str, Curve] = {
        "straight": straight(window),
        "slowing": slowing(window, exponent=2.0, longest=3),
        "last two": power_law(window, 1),
        "halves": power_law(window, len(window.losses)),
        "regression": regression(window, logs, falling),
        "geometric": geometric(window, 3),
        "trend": trend_curve,
    }
    levels = {"mean": mean(window, known, decay=0.5), "best": best(window), "trend": trend_level}
    return Candidates(window, levels, curves, logs, falling, np.maximum(window.drops[:RECENT].max(axis=0), 0.0))

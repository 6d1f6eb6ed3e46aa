"""How far every job is from its milestones: a distribution over the iterations still to go.

For each milestone (90 % of the loss reduction, 95 %, the end) a logistic regression says how likely it is reached
within h further iterations: P(remaining ≤ h) = σ(score). The score is linear in the signs of the history, in functions
of the horizon h, and in their products. `slaq bench learn --what remaining` finds the coefficients from recorded runs.

From one iteration on those functions are powers of u = log(1 + h): the score is a parabola in u, and the horizon at
which it first reaches a value is found in closed form.
"""

import math
from dataclasses import dataclass

import numpy as np

from slaq.model import BoolArray, FloatArray
from slaq.predict.learned_remaining import MEAN, SPREAD, WEIGHTS
from slaq.predict.series import Matrix

MILESTONES = (0.9, 0.95, 1.0)
"""Shares of a job's whole loss reduction; the last is its end."""

GRID = np.array(
    [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096], dtype=np.float64
)
"""Horizons at which the distributions are learned and judged."""

LOW, MIDDLE, HIGH = 0.1, 0.5, 0.9
"""The quantiles that are told."""

LN_2 = math.log(2.0)
"""u after one iteration."""

SURE = 1.0 - 1e-9
"""Largest chance that is told apart from certainty."""

NEVER = 20.0
"""u beyond every end."""

_MEAN, _SPREAD, _WEIGHTS = np.array(MEAN)[:, None], np.array(SPREAD)[:, None], np.array(WEIGHTS)


@dataclass(frozen=True, slots=True)
class Remaining:
    """Iterations to each of MILESTONES, and how likely each is behind; milestones × jobs."""

    low: Matrix
    middle: Matrix
    """The median; 0 where the milestone is more likely behind than ahead."""
    high: Matrix
    ahead: Matrix
    """The median of the cases in which the milestone is not behind; at least 1."""
    past: Matrix

    def put_off(self, jobs: BoolArray, left: FloatArray) -> "Remaining":
        """The same with every milestone of these jobs at the very end, and nothing but the end to work for."""
        low, middle, high, ahead = (
            np.where(jobs, left, part) for part in (self.low, self.middle, self.high, self.ahead)
        )
        only_the_end = np.array([[1.0]] * (len(MILESTONES) - 1) + [[0.0]])
        return Remaining(low, middle, high, ahead, np.where(jobs, only_the_end, self.past))

    def remembered(self, at: Matrix, trust: FloatArray) -> "Remaining":
        """The same drawn towards these distances (milestones × jobs), by a trust from 0 to 1 for each job.

        Distances are drawn on a logarithmic scale, so that the spread shrinks as trust grows.
        """
        low, middle, high, ahead = (
            np.where(trust > 0.0, np.rint(np.expm1(trust * np.log1p(at) + (1.0 - trust) * np.log1p(part))), part)
            for part in (self.low, self.middle, self.high, self.ahead)
        )
        past = trust * (at == 0.0) + (1.0 - trust) * self.past
        return Remaining(low, middle, high, np.maximum(ahead, 1.0), past)

    def consistent(self, share: FloatArray) -> FloatArray:
        """A share of the whole loss reduction, kept between the milestones that are behind and those that are ahead."""
        low, high = np.zeros_like(share), np.ones_like(share)
        for milestone, away in zip(MILESTONES[:-1], self.middle, strict=False):
            low = np.where(away == 0.0, milestone, low)
            high = np.where(away > 0.0, np.minimum(high, np.nextafter(milestone, 0.0)), high)
        return np.clip(share, low, np.maximum(high, low))


def basis(horizon: FloatArray, left: FloatArray) -> FloatArray:
    """The functions of the horizon that are multiplied with the signs, then those that stand alone; 6 × …"""
    size, part = np.log1p(horizon) - 2.0, np.log((horizon + 1.0) / (left + 1.0))
    none = (horizon == 0.0).astype(np.float64)
    return np.stack(np.broadcast_arrays(np.ones_like(part), size, part, none, size**2, part**2))


PRODUCTS = 4
"""Functions of `basis` that are multiplied with the signs."""


def standardised(signs: FloatArray) -> FloatArray:
    """Signs (signs × jobs) with the mean and spread that they had when the weights were learned."""
    scaled: FloatArray = (signs - _MEAN) / _SPREAD
    return scaled


def remaining(signs: FloatArray, left: FloatArray) -> Remaining:
    """The distributions of all jobs; `signs` has a row for each sign, `left` the iterations to the end at most."""
    inputs = standardised(signs)
    curves = [_curve(weights, inputs, left) for weights in _WEIGHTS]
    # A milestone is behind no sooner than the one before it: the later of two quantiles, the smaller of two chances.
    low, middle, high = (
        np.maximum.accumulate([curve.reaches(math.log(q / (1.0 - q)), left) for curve in curves])
        for q in (LOW, MIDDLE, HIGH)
    )
    past = np.array([_chance(curve.now) for curve in curves])
    # Half of the chance that is not behind lies before this score: (1 + p) / 2 in terms of odds.
    halfway = [np.log((1.0 + p) / (1.0 - p)) for p in np.minimum(past, SURE)]
    ahead = [np.maximum(curve.reaches(score, left), 1.0) for curve, score in zip(curves, halfway, strict=True)]
    return Remaining(low, middle, high, np.maximum.accumulate(ahead), np.minimum.accumulate(past))


@dataclass(frozen=True, slots=True)
class _Curve:
    """The score of every job over u = log(1 + h): `now` at h = 0, level + slope · u + bend · u² after that."""

    now: FloatArray
    level: FloatArray
    slope: FloatArray
    bend: float

    def at(self, u: FloatArray) -> FloatArray:
        """The score at some u from one iteration on."""
        return self.level + u * (self.slope + self.bend * u)

    def reaches(self, score: float | FloatArray, left: FloatArray) -> FloatArray:
        """The first whole number of iterations at which the score is reached; `left` if it is not before."""
        short = score - self.level
        inside = self.slope**2 + 4.0 * self.bend * short
        root = np.sqrt(np.maximum(inside, 0.0))
        # Of the two crossings the upward one; written so that nothing cancels.
        rising = self.slope > 0.0
        ahead = np.where(rising, 2.0 * short, root - self.slope)
        per = np.where(rising, self.slope + root, 2.0 * self.bend)
        crosses = (inside >= 0.0) & (per > 0.0)
        u = np.where(crosses, ahead / np.where(crosses, per, 1.0), NEVER)
        u = np.where(self.at(np.full_like(self.level, LN_2)) >= score, LN_2, np.where(u >= LN_2, u, NEVER))
        iterations = np.ceil(np.expm1(np.minimum(u, NEVER)) - 1e-9)
        return np.where(self.now >= score, 0.0, np.minimum(iterations, left))


def _curve(weights: FloatArray, inputs: FloatArray, left: FloatArray) -> _Curve:
    """The score of one milestone: `basis` multiplied out, with size = u − 2 and part = u − log(1 + left)."""
    count = len(inputs)
    # einsum instead of a matrix product: the distribution of a job must not depend on which other jobs there are.
    one, size, part, none = np.einsum("fs,sj->fj", weights[: PRODUCTS * count].reshape(PRODUCTS, count), inputs)
    size_2, part_2 = (float(weight) for weight in weights[PRODUCTS * count :])
    end = np.log1p(left)
    level = one - 2.0 * size - end * part + 4.0 * size_2 + end**2 * part_2
    slope = size + part - 4.0 * size_2 - 2.0 * end * part_2
    return _Curve(level + none, level, slope, size_2 + part_2)


def quantile(weights: FloatArray, inputs: FloatArray, left: FloatArray, q: float) -> FloatArray:
    """The iterations within which one milestone is reached with chance q, by such weights and standardised signs."""
    return _curve(weights, inputs, left).reaches(math.log(q / (1.0 - q)), left)


def chance(weights: FloatArray, inputs: FloatArray, horizon: FloatArray, left: FloatArray) -> FloatArray:
    """P(remaining ≤ horizon) by such weights (milestones × …) and standardised signs, for horizons × jobs.

    It never falls with the horizon, is 0 below 0 and 1 from `left` on; a later milestone is never likelier.
    """
    u = np.log1p(np.maximum(horizon, 1.0))
    found = []
    for each in weights:
        curve = _curve(each, inputs, left)
        # A parabola that bends down has its peak where the rise of the chance ends.
        peak = -curve.slope / (2.0 * curve.bend) if curve.bend < 0.0 else np.full_like(left, NEVER)
        first, upto = np.full_like(u, LN_2), np.clip(np.minimum(u, peak), LN_2, None)
        score = np.maximum(curve.at(first), curve.at(upto))
        score = np.maximum(np.where(horizon < 1.0, -np.inf, score), curve.now)
        found.append(np.where(horizon < 0.0, 0.0, np.where(horizon >= left, 1.0, _chance(score))))
    return np.minimum.accumulate(found)


def _chance(score: FloatArray) -> FloatArray:
    chance: FloatArray = 1.0 / (1.0 + np.exp(-np.clip(score, -40.0, 40.0)))
    return chance

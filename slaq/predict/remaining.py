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
    past: Matrix

    def put_off(self, jobs: BoolArray, left: FloatArray) -> "Remaining":
        """The same with every milestone of these jobs at the very end."""
        low, middle, high = (np.where(jobs, left, part) for part in (self.low, self.middle, self.high))
        return Remaining(low, middle, high, np.where(jobs, 0.0, self.past))

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
    return Remaining(low, middle, high, np.minimum.accumulate([_chance(curve.now) for curve in curves]))


@dataclass(frozen=True, slots=True)
class _Curve:
    """The score of every job over u = log(1 + h): `now` at h = 0, level + slope · u + bend · u² after that."""

    now: FloatArray
    level: FloatArray
    slope: FloatArray
    bend: float

    def reaches(self, score: float, left: FloatArray) -> FloatArray:
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
        at_one = self.level + LN_2 * (self.slope + LN_2 * self.bend)
        u = np.where(at_one >= score, LN_2, np.where(u >= LN_2, u, NEVER))
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


def cdf(weights: FloatArray, inputs: FloatArray, functions: FloatArray, left: FloatArray) -> FloatArray:
    """P(remaining ≤ h) where `functions` are the basis at GRID; horizons × jobs. It never falls, and is 1 from `left`
    on."""
    count = len(inputs)
    linear = np.einsum("fs,sj->fj", weights[: PRODUCTS * count].reshape(PRODUCTS, count), inputs)
    score = np.einsum("fhj,fj->hj", functions[:PRODUCTS], linear)
    score += np.einsum("fhj,f->hj", functions[PRODUCTS:], weights[PRODUCTS * count :])
    likely = np.maximum.accumulate(_chance(score), axis=0)
    return np.where(GRID[:, None] >= left, 1.0, likely)


def _chance(score: FloatArray) -> FloatArray:
    chance: FloatArray = 1.0 / (1.0 + np.exp(-np.clip(score, -40.0, 40.0)))
    return chance

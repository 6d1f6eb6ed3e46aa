"""The paper's predictor (SLAQ §4.2.2): exponentially weighted fits of two families of curves, the better one per job.

All jobs are fitted at once. Level and fall of a curve follow from its shape by weighted linear least squares, so only
the shape is searched for: on a grid, then around the best shape so far in ever smaller steps. Curves never rise and
never fall below 0, or, with negative losses, below the lowest by more than the losses spread.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from slaq.model import DEFAULTS, FloatArray, Job, Tuning
from slaq.predict.families import EXPONENTIAL, SUBLINEAR, Family
from slaq.predict.forecast import forecast_series
from slaq.predict.outlook import CurveOutlook, look_ahead
from slaq.predict.remaining import MILESTONES, Remaining
from slaq.predict.series import Matrix, Series
from slaq.predict.signs import Prospect
from slaq.predict.window import Window, look_back

REFINEMENTS = 7
"""Times that the steps of the search are halved: shapes are found to within 1 % of a halving."""

EXACT = 1e-9
"""Mean squared errors below this share of the squared spread are none: what is left is rounding."""

BETTER = 1.0 - 1e-9
"""A shape that brings the error below this share of the best so far is better; the rest are ties."""


def look_ahead_by_fits(jobs: Sequence[Job], epoch_s: float, tuning: Tuning) -> CurveOutlook:
    """The outlook by the paper's fits: gains from the better curve, distances from the same curve pushed to the end."""
    forecast, distances = partial(fit_series, decay=tuning.fit_decay), partial(along_the_curve, tuning.unseen_95)
    return look_ahead(jobs, epoch_s, tuning, forecast, distances)


def fit_series(series: Series, ahead: Sequence[int], decay: float = DEFAULTS.fit_decay) -> Matrix:
    """The loss of every job after each number of further iterations, by the better curve; jobs × len(ahead).

    A loss `n` iterations old counts `decay**n`.
    """
    return forecast_series(series, ahead, partial(_fitted, decay))


def _fitted(decay: float, series: Series, horizons: Matrix) -> Matrix:
    window = look_back(series)
    past = _past(window, series.losses.min(axis=0), decay)
    sublinear, exponential = _search(SUBLINEAR, past), _search(EXPONENTIAL, past)
    losses = np.where(
        exponential.error < BETTER * sublinear.error,
        exponential.losses(-horizons, past.points),
        sublinear.losses(-horizons, past.points),
    )
    return np.asarray(window.newest + window.spread * losses)


def along_the_curve(
    unseen_95: float,
    jobs: Sequence[Job],  # noqa: ARG001
    series: Series,
    first_loss: FloatArray,  # noqa: ARG001
    ahead: Prospect,
) -> Remaining:
    """Iterations to the milestones along the fitted curves.

    A job with fewer than two losses has no curve yet: it is taken for a geometric one that comes to 95 % after
    `unseen_95` of its iterations.
    """
    unseen = series.points < 2
    away = np.array([np.ceil(ahead.until(share)) if share < 1.0 else ahead.left for share in MILESTONES])
    for milestone, share in enumerate(MILESTONES[:-1]):
        usual = unseen_95 * np.log(1.0 - share) / np.log(0.05)
        away[milestone, unseen] = np.ceil(usual * ahead.left[unseen])
    return Remaining(away, away, away, np.maximum(away, 1.0), (away == 0.0).astype(np.float64))


@dataclass(frozen=True, slots=True)
class _Past:
    """What every shape is fitted to: losses by age and job, in units of each job's spread, relative to the newest."""

    age: Matrix
    points: Matrix
    weights: Matrix
    """Of each loss; they sum to 1 for every job."""
    mean: Matrix
    centred: Matrix
    """Losses less their mean, times their weights."""
    variance: Matrix
    lowest: Matrix
    """No curve may end below."""


@dataclass(frozen=True, slots=True)
class _Fit:
    """The best curve of a family for every job."""

    family: Family
    shape: Matrix
    level: Matrix
    fall: Matrix
    error: Matrix

    def losses(self, age: Matrix, points: Matrix) -> Matrix:
        return np.asarray(self.level + self.fall * self.family.rise(self.shape, age, points))


def _past(window: Window, smallest: Matrix, decay: float) -> _Past:
    losses, rows = window.losses, np.arange(float(len(window.losses)))[:, None]
    weights = decay**rows * window.known
    weights /= weights.sum(axis=0)
    mean = (weights * losses).sum(axis=0)
    centred = losses - mean
    lowest = (np.where(smallest < 0.0, smallest - window.spread, 0.0) - window.newest) / window.spread
    return _Past(
        # Cells before the first loss count nothing, but no curve of the sublinear family reaches back that far.
        age=np.minimum(rows, window.points - 1.0),
        points=window.points,
        weights=weights,
        mean=mean,
        centred=weights * centred,
        variance=(weights * centred**2).sum(axis=0),
        lowest=lowest,
    )


def _search(family: Family, past: _Past) -> _Fit:
    """The shape with the smallest error, for every job."""
    jobs = len(past.points)
    best = np.repeat(np.array(family.usual)[:, None], jobs, axis=1)
    error = _line(family, best, past)[2]

    def consider(shape: Matrix) -> None:
        found = _line(family, shape, past)[2]
        better = found < BETTER * error
        np.copyto(best, shape, where=better)
        np.copyto(error, found, where=better)

    for start in family.grid():
        consider(np.array(start)[:, None])
    last, step = np.array(family.last)[:, None], np.array(family.spacing)[:, None]
    for _ in range(REFINEMENTS):
        step = step / 2.0
        for move in product((-1.0, 0.0, 1.0), repeat=len(step)):
            if any(move):
                consider(np.clip(best + np.array(move)[:, None] * step, 0.0, last))
    level, fall, error = _line(family, best, past)
    return _Fit(family, best, level, fall, error)


def _line(family: Family, shape: Matrix, past: _Past) -> tuple[Matrix, Matrix, Matrix]:
    """Level and fall that fit best with these shapes, and the weighted mean squared error."""
    rise = family.rise(shape, past.age, past.points)
    # einsum instead of a sum over products: it makes no copies, and a column's sum depends on that column alone.
    weighted = past.weights * rise
    mean = np.einsum("aj->j", weighted)
    variance = np.einsum("aj,aj->j", weighted, rise) - mean**2
    common = np.einsum("aj,aj->j", past.centred, rise)
    fall = np.maximum(common / np.where(variance > 0.0, variance, 1.0), 0.0)
    level = past.mean - fall * mean
    too_low = level - fall < past.lowest
    # With the end of the curve held at the lowest, only the fall is free.
    bounded = (common + (1.0 + mean) * (past.mean - past.lowest)) / (variance + (1.0 + mean) ** 2)
    fall = np.where(too_low, bounded, fall)
    level = np.where(too_low, past.lowest + bounded, level)
    error = past.variance - 2.0 * fall * common + fall**2 * variance + (past.mean - fall * mean - level) ** 2
    return level, fall, np.maximum(error, EXACT)

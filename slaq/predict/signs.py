"""What a history says about how far its job has come: numbers of order 1, free of scale.

They are the inputs of the learned distribution in `remaining.py`; to change one means to learn again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slaq.model import FloatArray
from slaq.predict.series import Matrix, Series
from slaq.predict.window import Window, look_back

HORIZONS = np.array([0, *(2**i for i in range(13))])
"""Iterations ahead at which curves are forecast (0, 1, 2, 4 … 4096); between them gain is linear."""

SLOWEST, FASTEST = 1e-3, 1e2
"""Paces beyond these, relative to the average pace, are told apart no further."""

CERTAIN = 1e-4
"""A share is at least this far from 0 and 1."""

FAMILIES: dict[str, str] = {
    "ALS": "ALS",
    "FMClassifier": "FM",
    "FMRegressor": "FM",
    "GBTClassifier": "GBT",
    "GBTRegressor": "GBTReg",
    "GaussianMixture": "GMM",
    "GeneralizedLinearRegression": "GLM",
    "KMeans": "KMeans",
    "LDA": "LDA",
    "LinearRegression": "LinReg",
    "LinearRegressionWithSGD": "SGD",
    "LinearSVC": "SVM",
    "LogisticRegression": "LogReg",
    "LogisticRegressionWithSGD": "SGD",
    "MultilayerPerceptronClassifier": "MLPC",
    "SVMWithSGD": "SGD",
}
"""Estimators whose kind of curve is known from recorded runs."""

KINDS = tuple(sorted(set(FAMILIES.values())))


@dataclass(frozen=True, slots=True)
class Prospect:
    """A forecast pushed to the end of every job: what is behind, what is ahead, and where on the way milestones lie."""

    achieved: FloatArray
    """Loss reduction so far, by the forecast's own estimate of the loss now; at least 0."""
    gain: FloatArray
    """Further reduction after each of HORIZONS; jobs × horizons."""
    left: FloatArray
    """Iterations until the job ends at the latest."""
    limit: FloatArray
    """Reduction still to come until then."""

    @property
    def whole(self) -> FloatArray:
        """The whole reduction."""
        return self.achieved + self.limit

    def share(self) -> FloatArray:
        """The share of the whole reduction that is behind; 0 where there is none."""
        whole = self.whole
        return np.where(whole > 0.0, self.achieved / np.where(whole > 0.0, whole, 1.0), 0.0)

    def until(self, share: float) -> FloatArray:
        """Iterations until this share of the whole reduction."""
        goal = share * self.whole - self.achieved
        jobs = np.arange(len(goal))
        segment = np.clip(np.count_nonzero(self.gain < goal[:, None], axis=1) - 1, 0, len(HORIZONS) - 2)
        before, after = self.gain[jobs, segment], self.gain[jobs, segment + 1]
        part = np.clip((goal - before) / np.where(after > before, after - before, 1.0), 0.0, 1.0)
        iterations = HORIZONS[segment] + part * (HORIZONS[segment + 1] - HORIZONS[segment])
        return np.where(goal > 0.0, np.minimum(iterations, self.left), 0.0)


def prospect(first_loss: FloatArray, fitted: Matrix, left: FloatArray) -> Prospect:
    """The prospect of jobs with these first losses and forecasts at HORIZONS."""
    gain = np.nan_to_num(np.maximum.accumulate(np.maximum(fitted[:, :1] - fitted, 0.0), axis=1))
    segment = np.clip(np.searchsorted(HORIZONS, left, side="right") - 1, 0, len(HORIZONS) - 2)
    part = np.clip((left - HORIZONS[segment]) / (HORIZONS[segment + 1] - HORIZONS[segment]), 0.0, 1.0)
    jobs = np.arange(len(left))
    limit = gain[jobs, segment] * (1.0 - part) + gain[jobs, segment + 1] * part
    return Prospect(np.maximum(np.nan_to_num(first_loss - fitted[:, 0]), 0.0), gain, left, limit)


@np.errstate(all="ignore")  # ratios of tiny numbers; signs are bounded whatever comes of them
def signs(series: Series, first_loss: FloatArray, ahead: Prospect) -> dict[str, FloatArray]:
    """The signs of all jobs by name."""
    window, points, left = look_back(series), series.points, ahead.left
    made = np.maximum(points - 1.0, 0.0)
    fallen = np.nan_to_num(first_loss - series.losses[0])
    moves = (fallen > 0.0) & (made > 0.0)
    average = np.where(moves, fallen / window.spread / np.maximum(made, 1.0), 1.0)
    share = np.clip(ahead.share(), CERTAIN, 1.0 - CERTAIN)

    def of_moving(values: FloatArray) -> FloatArray:
        return np.where(moves, np.nan_to_num(values), 0.0)

    return {
        "bias": np.ones_like(points),
        "made": np.log1p(made),
        "left": np.log1p(left),
        "part": made / (made + left),
        "no loss": (points == 0.0).astype(np.float64),
        "one loss": (points == 1.0).astype(np.float64),
        "two losses": (points == 2.0).astype(np.float64),
        "pace, quarter": of_moving(_log(_pace(window, made // 4.0) / average)),
        "pace, half": of_moving(_log(_pace(window, made // 2.0) / average)),
        "pace, last": of_moving(_log(_pace(window, np.ones_like(made)) / average)),
        "bend": of_moving(_bend(window, made)),
        "gone": of_moving(
            _log(fallen / np.maximum(np.abs(np.nan_to_num(first_loss)), np.abs(fallen) / FASTEST), CERTAIN)
        ),
        "share": of_moving(np.log(share / (1.0 - share))),
        "to 90": of_moving(np.log1p(ahead.until(0.9))),
        "to 95": of_moving(np.log1p(ahead.until(0.95))),
        "rises": _rises(window, made),
        "stands still": (~moves & (points > 1.0)).astype(np.float64),
    }


def kinds(estimators: Sequence[str], points: FloatArray) -> FloatArray:
    """1 for the kind of each job's estimator, fading as its own losses tell more; kinds × jobs."""
    place = {kind: i for i, kind in enumerate(KINDS)}
    known = np.fromiter((place.get(FAMILIES.get(name, ""), -1) for name in estimators), np.int64, len(estimators))
    indicator = np.arange(len(KINDS))[:, None] == known
    return np.asarray(indicator / np.sqrt(points + 1.0))


def _at(window: Window, age: FloatArray) -> FloatArray:
    """The loss of each job at its own age, relative to the newest."""
    rows = np.minimum(age.astype(np.intp), len(window.losses) - 1)
    return np.asarray(window.losses[rows, np.arange(window.losses.shape[1])])


def _pace(window: Window, length: FloatArray) -> FloatArray:
    """The mean drop of the latest iterations."""
    reach = np.clip(length, 1.0, len(window.losses) - 1.0)
    return _at(window, reach) / reach


def _bend(window: Window, made: FloatArray) -> FloatArray:
    """The pace of the latest quarter against the one before."""
    length = np.clip(made // 4.0, 1.0, (len(window.losses) - 1) // 2)
    newer, older = _at(window, length), _at(window, 2.0 * length) - _at(window, length)
    known = (made >= 2.0 * length) & (older > 0.0)
    return np.where(known, _log(newer / np.where(known, older, 1.0)), 0.0)


def _rises(window: Window, made: FloatArray) -> FloatArray:
    known = np.minimum(made, len(window.drops))
    rises = (window.drops < 0.0) & (np.arange(len(window.drops))[:, None] < known)
    return np.asarray(np.count_nonzero(rises, axis=0) / np.maximum(known, 1.0))


def _log(factor: FloatArray, least: float = SLOWEST) -> FloatArray:
    return np.asarray(np.log(np.clip(factor, least, FASTEST)))

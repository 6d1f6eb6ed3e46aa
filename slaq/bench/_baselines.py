"""What the predictors are measured against: naive guesses, the paper's weighted fits to the letter, Optimus' curve.

Each baseline takes one loss history and the horizons, and answers one predicted loss per horizon. They are the
literal, slow forms: one `scipy.optimize.curve_fit` per job and curve family, as a reader of the papers would write it.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeWarning, curve_fit

from slaq.model import DEFAULTS

Vector = NDArray[np.float64]
Baseline = Callable[[Vector, Vector], Vector]


@dataclass(frozen=True, slots=True)
class Family:
    """A curve family: its formula, where the search starts, and the bounds of its parameters."""

    curve: Callable[..., Vector]
    start: tuple[float, ...]
    upper: tuple[float, ...]


def _sublinear(k: Vector, a: float, b: float, c: float, d: float) -> Vector:
    return 1.0 / (a * k**2 + b * k + c) + d


def _exponential(k: Vector, mu: float, b: float, c: float) -> Vector:
    return np.asarray(np.exp((k - b) * np.log(mu)) + c)


def _optimus(k: Vector, b0: float, b1: float, b2: float) -> Vector:
    return 1.0 / (b0 * k + b1) + b2


# Lower bounds are 0 for every parameter, as in the authors' implementation; a tiny positive value stands in for 0
# where the formula would divide by it or take its logarithm.
_TINY = 1e-9
SUBLINEAR = Family(_sublinear, (0.01, 0.5, 1.0, 0.1), (np.inf,) * 4)
EXPONENTIAL = Family(_exponential, (0.8, 1.0, 0.1), (1.0, np.inf, np.inf))
OPTIMUS = Family(_optimus, (0.5, 1.0, 0.1), (np.inf,) * 3)


def last_value(losses: Vector, ahead: Vector) -> Vector:
    """The loss stays where it is."""
    return np.full(len(ahead), losses[-1])


def last_delta(losses: Vector, ahead: Vector) -> Vector:
    """Every further iteration changes the loss by as much as the last one did."""
    return np.asarray(losses[-1] + ahead * (losses[-1] - losses[-2]))


def weighted_fit(decay: float, families: tuple[Family, ...], losses: Vector, ahead: Vector) -> Vector:
    """The family with the smallest exponentially weighted squared residual; the last value if no fit succeeds.

    A loss that is `n` iterations old counts `decay**n` (SLAQ §4.2). The losses are divided by their range first, which
    changes no optimum and keeps the solver away from the extremes of floating point; a history with negative losses
    is lifted so that an asymptote below its smallest value stays within the bounds.
    """
    spread = float(np.ptp(losses))
    if not spread > 0.0:
        return last_value(losses, ahead)
    lift = 0.0 if losses.min() >= 0.0 else losses.min() - spread
    scaled = (losses - lift) / spread
    iterations = np.arange(1.0, len(losses) + 1.0)
    weights = decay ** (iterations[-1] - iterations)
    best, forecast = np.inf, last_value(losses, ahead)
    for family in families:
        parameters = _fit(family, iterations, scaled, weights)
        if parameters is None:
            continue
        residual = float(np.sum(weights * (family.curve(iterations, *parameters) - scaled) ** 2))
        if residual < best:
            best, forecast = residual, family.curve(iterations[-1] + ahead, *parameters) * spread + lift
    return forecast


def _fit(family: Family, iterations: Vector, losses: Vector, weights: Vector) -> Vector | None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", OptimizeWarning)
        try:
            parameters, _ = curve_fit(
                family.curve,
                iterations,
                losses,
                p0=family.start,
                sigma=1.0 / np.sqrt(weights),
                bounds=(_TINY, family.upper),
                max_nfev=100,
            )
        except (RuntimeError, ValueError):  # no convergence, or an overflow on the way
            return None
    return np.asarray(parameters, dtype=np.float64)


BASELINES: Mapping[str, Baseline] = MappingProxyType(
    {
        "last-value": last_value,
        "last-delta": last_delta,
        "scipy-fit": partial(weighted_fit, DEFAULTS.fit_decay, (SUBLINEAR, EXPONENTIAL)),
        "optimus": partial(weighted_fit, 1.0, (OPTIMUS,)),
    }
)

"""Loss curves that simulated jobs follow: recorded ones, those of a file, or drawn from the paper's two families."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from slaq.data import recorded_curves
from slaq.errors import SlaqError

UNUSABLE_KINDS = frozenset({"diverged", "unstable"})
"""Recorded runs that went nowhere; `Setting.nonsense` simulates jobs that report nonsense."""

ENDS_BY_ITSELF = frozenset({"l-bfgs", "owl-qn", "lloyd", "irls"})
"""Optimizers that may stop before `maxIter`; with any other the length of a run is its `maxIter`."""

_GRADIENT_DESCENT = frozenset({"gd", "sgd"})

_ESTIMATORS = {
    "ALS": "ALS",
    "GBT": "GBTClassifier",
    "GBTReg": "GBTRegressor",
    "GLM": "GeneralizedLinearRegression",
    "GMM": "GaussianMixture",
    "KMeans": "KMeans",
    "LDA": "LDA",
    "LinReg": "LinearRegression",
    "LogReg": "LogisticRegression",
    "MLPC": "MultilayerPerceptronClassifier",
    "SVM": "LinearSVC",
    "SVMPoly": "custom",
}
_WITH_SGD = {"LinReg": "LinearRegressionWithSGD", "LogReg": "LogisticRegressionWithSGD", "SVM": "SVMWithSGD"}
_FACTORIZATION_MACHINES = {"classification": "FMClassifier", "regression": "FMRegressor"}


@dataclass(frozen=True, slots=True)
class Curve:
    """The loss of a training run after 0, 1, 2 … iterations, and what was trained."""

    algorithm: str
    losses: tuple[float, ...]
    max_iterations: int | None = None
    """The `maxIter` of the run; None: not known, it may have ended by itself."""
    estimator: str = ""
    """The class a driver would name for such a run; empty: not known."""


class _Run(Struct, frozen=True):
    """A run as a file of curves tells it."""

    losses: list[float]
    algorithm: str = "unknown"
    estimator: str | None = None
    kind: str | None = None
    optimizer: str = "l-bfgs"
    params: dict[str, Any] = {}
    max_iterations: int | None = None


def recorded() -> list[Curve]:
    """The curves of real MLlib runs that ship with the package."""
    return _usable(msgspec.convert(recorded_curves(), list[_Run]))


def read_curves(path: Path) -> list[Curve]:
    """The curves of a JSON file: a list of objects with `losses` and, if known, `algorithm`, `estimator` and `kind`."""
    try:
        runs = json.loads(path.read_text(encoding="utf-8"))
        curves = _usable(msgspec.convert(runs, list[_Run]))
    except OSError as error:
        raise SlaqError(f"cannot read loss curves from {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise SlaqError(
            f'{path} holds no loss curves ({error}); give a JSON list of objects like {{"losses": [1.0, 0.5]}}'
        ) from None
    if not curves:
        raise SlaqError(f"no curve in {path} has two losses or more and ends below its first one")
    return curves


def write_curves(path: Path, curves: Sequence[Curve]) -> None:
    """Write curves in the form `read_curves` takes."""
    runs = [
        {
            "algorithm": curve.algorithm,
            "losses": list(curve.losses),
            "max_iterations": curve.max_iterations,
            "estimator": curve.estimator,
        }
        for curve in curves
    ]
    path.write_text(json.dumps(runs) + "\n", encoding="utf-8")


def synthetic(count: int, iterations: int, rng: np.random.Generator) -> list[Curve]:
    """Curves of the paper's two families (SLAQ §4.2.2), half linear convergence and half sublinear."""
    k = np.arange(iterations + 1.0)
    curves = []
    for i in range(count):
        if i % 2:
            losses = rng.uniform(0.85, 0.97) ** k
        else:
            b = rng.uniform(0.05, 0.5)
            losses = 1.0 / (b * rng.uniform(0.0, 0.2) * k**2 + b * k + 1.0)
        scaled = 10.0 ** rng.uniform(-2, 4) * (rng.uniform(0.0, 0.5) + losses)
        curves.append(Curve("linear" if i % 2 else "sublinear", tuple(scaled.tolist())))
    return curves


def estimator_of(algorithm: str, optimizer: str = "", task: str = "") -> str:
    """The MLlib class that trains a recorded algorithm with this optimizer; empty if there is none."""
    if algorithm == "FM":
        return _FACTORIZATION_MACHINES.get(task, "")
    if optimizer in _GRADIENT_DESCENT and algorithm in _WITH_SGD:
        return _WITH_SGD[algorithm]
    return _ESTIMATORS.get(algorithm, "")


def _usable(runs: Sequence[_Run]) -> list[Curve]:
    """Finite curves that improve at all."""
    curves = []
    for run in runs:
        losses = np.asarray(run.losses, dtype=np.float64)
        good = len(losses) > 1 and bool(np.isfinite(losses).all()) and losses.min() < losses[0]
        if good and run.kind not in UNUSABLE_KINDS:
            curves.append(Curve(run.algorithm, tuple(losses.tolist()), _limit(run), _estimator(run)))
    return curves


def _estimator(run: _Run) -> str:
    if run.estimator is not None:
        return run.estimator
    return estimator_of(run.algorithm, run.optimizer, str(run.params.get("task", "")))


def _limit(run: _Run) -> int | None:
    """The run's `maxIter`, where it is recorded or where the length of the run shows it."""
    if run.max_iterations is not None or run.optimizer in ENDS_BY_ITSELF:
        return run.max_iterations
    return len(run.losses) - 1

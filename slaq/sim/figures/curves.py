"""Figures 1, 5, 6 and 10a: about the loss curves themselves and how well they are predicted."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from slaq.model import FloatArray
from slaq.sim.curves import Curve

Predict = Callable[[FloatArray, FloatArray], FloatArray]
"""predict(losses so far, iterations ahead): the losses then."""

SHOWN = ("LogReg", "SVM", "LDA", "MLPC")
"""The algorithms of the paper's Figure 1."""

SHARES = (0.5, 0.8, 0.9, 0.95, 0.99, 1.0)
AHEAD = (1, 5, 10)
LONGEST = 100
CONVERGED = 1e-4
"""Figure 1 takes a job as converged when an iteration gains less than this share of the first."""


def diminishing_returns(curves: Sequence[Curve]) -> dict[str, Any]:
    """Figure 1: share of a run's iterations until shares of its loss reduction; medians by algorithm."""
    found: dict[str, list[float]] = {}
    for name in SHOWN:
        rows = [_until(np.array(curve.losses)) for curve in curves if curve.algorithm == name]
        if rows:
            found[name] = np.median(rows, axis=0).tolist()
    return {"shares": list(SHARES), "time_share": found}


def _until(losses: FloatArray) -> list[float]:
    best = np.minimum.accumulate(losses)
    gains = -np.diff(best)
    moving = np.flatnonzero(gains > CONVERGED * gains.max())
    best = best[: moving[-1] + 2]
    reduced = (best[0] - best) / (best[0] - best[-1])
    return [float(np.argmax(reduced >= share - 1e-12)) / (len(best) - 1) for share in SHARES]


def normalised_changes(curves: Sequence[Curve]) -> dict[str, Any]:
    """Figure 5: change of the loss by the largest so far, at each iteration; medians by algorithm."""
    found: dict[str, list[float]] = {}
    for name in sorted({curve.algorithm for curve in curves}):
        rows = np.full((sum(curve.algorithm == name for curve in curves), LONGEST), np.nan)
        for row, curve in zip(rows, (curve for curve in curves if curve.algorithm == name), strict=True):
            change = np.maximum(-np.diff(np.array(curve.losses))[:LONGEST], 0.0)
            largest = np.maximum.accumulate(change)
            row[: len(change)] = np.divide(change, largest, out=np.ones(len(change)), where=largest > 0)
        shown = ~np.isnan(rows).all(axis=0)
        found[name] = np.nanmedian(rows[:, shown], axis=0).tolist()
    return {"change": found}


def prediction_errors(curves: Sequence[Curve], methods: Mapping[str, Predict], every: int = 25) -> dict[str, Any]:
    """Figures 6 and 10a: mean error in shares of the whole reduction, by method, horizon and algorithm.

    Predictions are made after every `every` iterations, from the fifth on.
    """
    errors: dict[str, dict[str, list[FloatArray]]] = {name: {} for name in methods}
    ahead = np.array(AHEAD, dtype=np.float64)
    for curve in curves:
        losses = np.array(curve.losses[: LONGEST + 1])
        span = losses[0] - losses.min()
        for now in range(5, len(losses) - AHEAD[-1], every):
            truth = losses[now + np.array(AHEAD)]
            for name, predict in methods.items():
                error = np.abs(predict(losses[: now + 1], ahead) - truth) / span
                errors[name].setdefault(curve.algorithm, []).append(error)
    by_horizon = {name: np.mean([e for es in by.values() for e in es], axis=0).tolist() for name, by in errors.items()}
    by_algorithm = {
        name: {algorithm: float(np.mean(es, axis=0)[-1]) for algorithm, es in sorted(by.items())}
        for name, by in errors.items()
    }
    return {"ahead": list(AHEAD), "by_horizon": by_horizon, "ten_ahead_by_algorithm": by_algorithm}

"""How the forecaster's gate is learned: the shares of the candidates that would have forecast past runs best."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from slaq.predict.candidates import NAMES, outline
from slaq.predict.curves import way_ahead
from slaq.predict.features import features
from slaq.predict.series import pack
from slaq.predict.window import look_back

Array = NDArray[np.float64]

HORIZONS = (1, 5, 10, 30, 80)
HORIZON_WEIGHTS = np.array([2.0, 1.0, 1.0, 0.2, 0.1])
"""Near forecasts have small errors and far ones large; the weights make both worth learning."""

FIRST, DENSE, STRIDE = 3, 12, 3
"""Losses known at the first position; up to where every position is taken; the distance of positions from there."""

COLD, COLD_WEIGHT = 5, 0.2
"""Positions with fewer losses count less: hardly anything is known there."""

UNSMOOTH, BAD = 0.5, 0.1
"""Weight of a run that is not smooth; it is less where the last value is a worse guess than BAD of the range."""

PENALTY = 2e-4
"""Weight of the gate's squared numbers: small ones generalise."""

BLUNT = 1e-4
"""Scale-free errors below this are as good as none."""

STEPS, START_SPREAD = 300, 0.3
"""Of the search, which is not convex: it is begun several times, from random numbers of this size."""


@dataclass(frozen=True, slots=True)
class Examples:
    """One row per position of a run: what every candidate and the run itself did from there, over the run's range."""

    candidates: Array
    """positions × candidates × horizons."""
    truth: Array
    weight: Array
    """positions × horizons; 0 where the run ends before the horizon."""
    features: Array
    run: NDArray[np.intp]

    def where(self, chosen: NDArray[np.bool_]) -> "Examples":
        """Only the chosen positions."""
        return Examples(*(getattr(self, field.name)[chosen] for field in fields(self)))


def examples(runs: Sequence[dict[str, Any]]) -> Examples:
    """Positions of all runs; early ones, where curves differ most, are taken more densely and count more."""
    positions = [
        (i, k) for i, run in enumerate(runs) for k in range(FIRST, len(run["losses"])) if k <= DENSE or k % STRIDE == 0
    ]
    run = np.array([i for i, _ in positions], dtype=np.intp)
    known = np.array([k for _, k in positions])
    losses = [np.asarray(r["losses"], dtype=np.float64) for r in runs]
    scale = np.array([abs(r[0] - r[-1]) or 1.0 for r in losses])
    window = look_back(pack([losses[i][:k] for i, k in positions]))
    candidates = outline(window)
    unit = scale[run]
    way = way_ahead(np.array(HORIZONS, dtype=np.float64)[:, None], window.points)
    continued = np.stack([candidates.ends(name, way) for name in NAMES]) * (window.spread / unit)
    truth = np.array(
        [[losses[i][k + h - 1] if k + h <= len(losses[i]) else np.nan for h in HORIZONS] for i, k in positions]
    )
    truth = (truth - window.newest[:, None]) / unit[:, None]
    return Examples(
        candidates=continued.transpose(2, 0, 1),
        truth=np.nan_to_num(truth),
        weight=_weights(runs, run, known, truth),
        features=np.stack(list(features(candidates).values()), axis=1),
        run=run,
    )


def _weights(runs: Sequence[dict[str, Any]], run: NDArray[np.intp], known: NDArray[np.int_], truth: Array) -> Array:
    """Every smooth run weighs 1 per horizon, half of it spread evenly over its positions, half over the early ones."""
    even = np.isfinite(truth) * np.where(known > DENSE, float(STRIDE), 1.0)[:, None]
    early = even / (known[:, None] + 5.0)
    for part in (even, early):
        part /= np.maximum(_per_run(part, run, len(runs)), 1e-12)[run]
    still = np.nan_to_num(_per_run(even * np.nan_to_num(np.abs(truth)), run, len(runs))[:, :3].mean(axis=1))
    smooth = np.array([r["kind"] == "smooth" for r in runs])
    worth = np.where(smooth, 1.0, UNSMOOTH * np.minimum(1.0, BAD / np.maximum(still, 1e-12)))
    worth[[r["kind"] == "diverged" for r in runs]] = 0.0
    worth_here = worth[run] * np.where(known < COLD, COLD_WEIGHT, 1.0)
    return np.asarray(0.5 * (even + early) * worth_here[:, None])


def _per_run(values: Array, run: NDArray[np.intp], runs: int) -> Array:
    return np.stack([np.bincount(run, column, minlength=runs) for column in values.T], axis=1)


def shares(gate: Array, described: Array) -> Array:
    """The gate's softmax; positions × candidates."""
    scores = described @ gate
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(scores / scores.sum(axis=1, keepdims=True))


def learn(data: Examples, starts: int) -> Array:
    """The gate (features × candidates) with the smallest weighted absolute error of the mixture."""
    shape = data.features.shape[1], data.candidates.shape[1]
    weight = 100.0 * HORIZON_WEIGHTS * data.weight / data.weight[:, :3].sum()
    by_horizon = [np.ascontiguousarray(data.candidates[:, :, h]) for h in range(len(HORIZONS))]

    def objective(flat: Array) -> tuple[float, Array]:
        share = shares(flat.reshape(shape), data.features)
        total, slope = 0.0, np.zeros_like(share)
        for h, candidates in enumerate(by_horizon):
            error = (share * candidates).sum(axis=1) - data.truth[:, h]
            size = np.hypot(error, BLUNT)
            total += float(weight[:, h] @ size)
            slope += (weight[:, h] * error / size)[:, None] * candidates
        slope = share * (slope - (share * slope).sum(axis=1, keepdims=True))
        return total + PENALTY * float(flat @ flat), (data.features.T @ slope).ravel() + 2.0 * PENALTY * flat

    found = []
    for seed in range(starts):
        start = np.random.default_rng(seed).normal(scale=START_SPREAD, size=shape[0] * shape[1])
        found.append(minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS}))
    return np.asarray(min(found, key=lambda result: result.fun).x.reshape(shape))

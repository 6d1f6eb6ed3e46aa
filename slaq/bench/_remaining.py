"""How the distribution of remaining iterations is learned from past runs, and how well it does on others.

A run is cut at several lengths: to be told to end after M iterations redefines what 90 % of the whole reduction is.
Every cut is looked at after 0, 1, 2 … losses; that is a state. Each run counts as much as any other.
"""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slaq.predict.forecast import forecast_series
from slaq.predict.remaining import GRID, MIDDLE, MILESTONES, PRODUCTS, basis, chance, quantile
from slaq.predict.series import pack
from slaq.predict.signs import HORIZONS, KINDS, kinds, prospect, signs

Array = NDArray[np.float64]
Learned = tuple[Array, Array, Array]
"""Mean and spread of the signs, and the weights of each milestone."""

HEAD = '"""How many iterations remain: numbers that `slaq bench learn --what remaining` found; not edited by hand."""'

RIDGE = 1.0
"""Weight of the squared coefficients: small ones generalise. One run weighs as much as `RUN_WEIGHT` states."""
RUN_WEIGHT = 12.0
CUTS, STATES = 6, 14
"""Lengths at which a run is cut, and states of a cut beyond its first losses; both spaced geometrically."""
ASKED = 8
"""Horizons at which a state is learned from, of all in GRID that lie before its end."""
NEWTON_STEPS = 60
SHORTEST = 5
FIRST_STATES = (-1, 0, 1, 2, 3)
ENDS_BY_ITSELF = frozenset({"l-bfgs", "owl-qn", "lloyd", "irls"})
TOLD_MORE = (1.0, 1.3, 2.0, 4.0)
"""A run that ended by itself may have been told to make so many times as many iterations."""
UNUSABLE = frozenset({"diverged", "unstable", "heldout"})
STEPS_BY_GRADIENT = frozenset({"gd", "sgd"})
_BY_ALGORITHM = {"LogReg": "LogisticRegression", "SVM": "LinearSVC", "LinReg": "LinearRegression", "FM": "FMRegressor",
                 "GBT": "GBTClassifier", "GBTReg": "GBTRegressor", "GMM": "GaussianMixture", "KMeans": "KMeans",
                 "GLM": "GeneralizedLinearRegression", "LDA": "LDA", "ALS": "ALS",
                 "MLPC": "MultilayerPerceptronClassifier"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class States:
    """One row per state."""

    signs: Array
    """states × signs."""
    left: Array
    away: Array
    """Iterations to each milestone; states × milestones."""
    losses: Array
    run: NDArray[np.int64]
    weight: Array

    def where(self, chosen: NDArray[np.bool_]) -> "States":
        """Only the chosen states."""
        return States(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def twice(self) -> "States":
        """Every state with the name of its estimator and again without, each counting half."""
        pairs = (self, self.unnamed())
        both = States(*(np.concatenate([getattr(one, field.name) for one in pairs]) for field in fields(self)))
        return replace(both, weight=both.weight / 2.0)

    def unnamed(self) -> "States":
        """The same with the estimators' names hidden."""
        signs = self.signs.copy()
        signs[:, -len(KINDS) :] = 0.0
        return replace(self, signs=signs)


def estimator(run: Mapping[str, Any]) -> str:
    """The estimator that a recorded run is known by."""
    if run.get("estimator"):
        return str(run["estimator"])
    if run["optimizer"] in STEPS_BY_GRADIENT and run["algorithm"] in ("LogReg", "SVM", "LinReg"):
        return "SVMWithSGD"
    return _BY_ALGORITHM.get(run["algorithm"], "custom")


def usable(run: Mapping[str, Any]) -> bool:
    """Whether a run improved at all, and long enough."""
    losses = np.asarray(run["losses"], dtype=np.float64)
    finite = len(losses) > SHORTEST - 1 and bool(np.isfinite(losses).all())
    return finite and losses.min() < losses[0] and run.get("kind") not in UNUSABLE


def states(runs: Sequence[Mapping[str, Any]], seed: int = 0) -> States:
    """All states of the usable runs."""
    rng = np.random.default_rng(seed)
    histories, told, away, owner, names = [], [], [], [], []
    for number, run in enumerate(runs):
        if not usable(run):
            continue
        losses = np.asarray(run["losses"], dtype=np.float64)
        for length in _lengths(len(losses) - 1):
            marks = _milestones(losses[: length + 1])
            whole = length == len(losses) - 1
            more = rng.choice(TOLD_MORE) if whole and run.get("optimizer") in ENDS_BY_ITSELF else 1.0
            for k in _positions(length):
                histories.append(losses[: k + 1])
                told.append(run.get("max_iterations") or round(more * length) if whole else length)
                away.append([max(mark - max(k, 0), 0) for mark in marks])
                owner.append(number)
                names.append(estimator(run))
    return _states(histories, np.array(told, float), np.array(away, float), np.array(owner), names)


def _states(histories: list[Array], told: Array, away: Array, owner: NDArray[np.int64], names: list[str]) -> States:
    series = pack(histories)
    first = np.array([losses[0] if len(losses) else np.nan for losses in histories])
    left = np.maximum(told - np.maximum(series.points - 1.0, 0.0), 1.0)
    ahead = prospect(first, forecast_series(series, HORIZONS.tolist()), left)
    described = np.vstack([*signs(series, first, ahead).values(), kinds(names, series.points)])
    weight = RUN_WEIGHT / np.bincount(owner)[owner]
    return States(described.T, left, away, series.points, owner, weight)


def _lengths(whole: int) -> list[int]:
    return sorted({whole, *(round(m) for m in np.geomspace(SHORTEST, max(whole, SHORTEST), CUTS) if m <= whole)})


def _positions(length: int) -> list[int]:
    spaced = (int(k) for k in np.geomspace(2, max(length - 1, 2), STATES))
    return sorted(k for k in {*FIRST_STATES, *spaced} if k < length)


def _milestones(losses: Array) -> list[int]:
    """The iteration at which each milestone is reached, by the lowest loss so far."""
    lowest = np.minimum.accumulate(losses)
    span = lowest[0] - lowest[-1]
    if not span > 0.0:
        return [len(losses) - 1] * len(MILESTONES)
    share = (lowest[0] - lowest) / span
    return [int(np.argmax(share >= goal - 1e-12)) for goal in MILESTONES[:-1]] + [len(losses) - 1]


def learn(data: States) -> Learned:
    """Mean and spread of the signs, and the weights of each milestone.

    Every state counts twice, once with the name of its estimator and once without: a job may have either.
    """
    mean, spread = data.signs.mean(axis=0), data.signs.std(axis=0)
    mean[0], spread[0] = 0.0, 1.0
    mean[-len(KINDS) :], spread[-len(KINDS) :] = 0.0, 1.0  # an estimator that is not known has none of them
    spread[spread == 0.0] = 1.0
    both = data.twice()
    asked = _asked(both)
    inputs = (both.signs - mean) / spread
    return mean, spread, np.array([_learn_one(both, inputs, asked, m) for m in range(len(MILESTONES))])


def _asked(data: States) -> list[NDArray[np.bool_]]:
    """For each horizon, the states that are asked about it: so many horizons of each, drawn by lot."""
    rng = np.random.default_rng(0)
    lots = np.where(GRID[:, None] < data.left, rng.random((len(GRID), len(data.left))), np.inf)
    last = np.sort(lots, axis=0)[min(ASKED, len(GRID)) - 1]
    return [np.asarray((lot <= last) & (lot < np.inf)) for lot in lots]


def _learn_one(data: States, inputs: Array, asked: list[NDArray[np.bool_]], milestone: int) -> Array:
    rows, hit, weight = [], [], []
    for horizon, here in zip(GRID, asked, strict=True):
        rows.append(design(inputs[here], np.full(int(here.sum()), horizon), data.left[here]))
        hit.append((data.away[here, milestone] <= horizon).astype(np.float64))
        weight.append(data.weight[here] / ASKED * len(GRID))
    return logistic(np.concatenate(rows), np.concatenate(hit), np.concatenate(weight))


def logistic(x: Array, y: Array, weight: Array) -> Array:
    """The weights of a logistic regression with ridge, by Newton's method; the first is free."""
    ridge = np.full(x.shape[1], RIDGE)
    ridge[0] = 1e-6
    found, step, loss = np.zeros(x.shape[1]), np.zeros(x.shape[1]), np.inf
    for _ in range(NEWTON_STEPS):
        tried = found + step
        score = x @ tried
        value = float(weight @ (np.logaddexp(0.0, score) - y * score) + 0.5 * ridge @ tried**2)
        if value > loss:
            step = step / 2.0
            continue
        settled, found, loss = loss - value < 1e-7 * abs(value), tried, value
        if settled:
            break
        likely = 1.0 / (1.0 + np.exp(-np.clip(score, -40.0, 40.0)))
        slope = x.T @ (weight * (likely - y)) + ridge * found
        bend = x.T @ (x * (weight * np.maximum(likely * (1.0 - likely), 1e-6))[:, None]) + np.diag(ridge)
        step = np.asarray(-np.linalg.solve(bend, slope), dtype=np.float64)
    return found


def design(inputs: Array, horizon: Array, left: Array) -> Array:
    """The inputs of the regression in the order of its weights; states × weights."""
    functions = basis(horizon, left)
    products = [inputs * function[:, None] for function in functions[:PRODUCTS]]
    return np.hstack([*products, functions[PRODUCTS:].T])


def likely(learned: Learned, data: States, horizon: Array) -> Array:
    """P(remaining ≤ horizon) of each state by such numbers, for horizons × states; milestones × horizons × states."""
    mean, spread, weights = learned
    return chance(weights, ((data.signs - mean) / spread).T, horizon, data.left)


def crps(learned: Learned, data: States) -> Array:
    """The continuous ranked probability score over log2(1 + iterations); milestones × states, 0 is best."""
    hit = data.away.T[:, None, :] <= GRID[:, None]
    wrong = (likely(learned, data, np.broadcast_to(GRID[:, None], (len(GRID), len(data.left)))) - hit) ** 2
    return np.asarray(np.einsum("h,mhs->ms", np.diff(np.log2(1.0 + GRID)), wrong[:, :-1]))


def places(learned: Learned, data: States, rng: np.random.Generator) -> Array:
    """Where the truth lies in each distribution, from 0 to 1; drawn between both sides of a jump. milestones × states.

    Evenly spread if the distributions are right: a tenth of them below 0.1, half below 0.5.
    """
    found = []
    for milestone, away in enumerate(data.away.T):
        below, at = likely(learned, data, np.array([away - 1.0, away]))[milestone]
        found.append(below + rng.random(len(away)) * (at - below))
    return np.array(found)


def miss(learned: Learned, data: States) -> Array:
    """How far the median to 90 % is off: |log2| of the ratio of iterations, each and one more."""
    mean, spread, weights = learned
    middle = quantile(weights[0], ((data.signs - mean) / spread).T, data.left, MIDDLE)
    return np.asarray(np.abs(np.log2((middle + 1.0) / (data.away[:, 0] + 1.0))))


def module(learned: Learned) -> str:
    """The text of `slaq/predict/learned_remaining.py`."""
    mean, spread, weights = learned
    lines = ["MEAN: tuple[float, ...] = (", _numbers(mean, 4), ")"]
    lines += ["SPREAD: tuple[float, ...] = (", _numbers(spread, 4), ")", "WEIGHTS: tuple[tuple[float, ...], ...] = ("]
    for each in weights:
        lines += ["    (", _numbers(each, 8), "    ),"]
    return "\n".join([HEAD, "", *lines, ")", '"""For each milestone, the weights of signs and horizon."""', ""])


def _numbers(values: Array, indent: int) -> str:
    text = ", ".join(f"{value:.4g}" for value in values) + ","
    return textwrap.fill(text, 116, initial_indent=" " * indent, subsequent_indent=" " * indent)

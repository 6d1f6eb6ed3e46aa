"""What a history looks like: a few numbers of order 1, free of scale, by which the gate tells kinds of curves apart."""

import numpy as np

from slaq.predict.candidates import Candidates
from slaq.predict.curves import Curve, way_ahead
from slaq.predict.levels import mean
from slaq.predict.series import Matrix

AHEAD = np.array([[10.0]])
"""Where curves are compared with each other, iterations ahead."""

FAR = 20.0
"""Curves that differ by more than this factor are equally far apart."""

EXPERIENCED = 200.0
"""From here on, more iterations make no other kind of history."""

SHORT, LONG = 0.8, 0.9
"""Weight of a drop relative to the next newer one, where the last few count and where the last twenty do."""

STEEP = 3.0
"""A curve that steepens by more than this many times its bend is no power law, however much more it is."""

NOTHING = 1e-40


def features(candidates: Candidates) -> dict[str, Matrix]:
    """The features of all jobs, in the order of the gate."""
    window = candidates.window
    drops, points = window.drops, window.points
    age = np.arange(float(len(drops)))
    long, size = LONG**age, np.abs(drops)
    pace = np.maximum(size[:10].mean(axis=0), NOTHING)
    straightness = np.abs(_weighted(long, drops)) / np.maximum(_weighted(long, size), NOTHING)
    bend, compared = _bend(candidates), _compared(candidates)
    rises = _weighted(SHORT**age, (drops < 0.0).astype(np.float64))
    return {
        "bias": np.ones_like(points),
        "iterations": np.log(np.minimum(points, EXPERIENCED)) - 2.5,
        "roughness": np.log(bend) + 2.0,
        "rises": rises * (1.0 - SHORT) / (1.0 - SHORT ** np.maximum(points - 1.0, 1.0)),
        "wandering": -np.log(np.maximum(straightness, 0.02)),
        "above its mean": np.clip(-mean(window, window.known.astype(np.float64), SHORT) / pace, -3.0, 3.0),
        "above its best": np.clip(-window.losses.min(axis=0) / pace, 0.0, 4.0),
        "alternation": _alternation(drops, long[1:]),
        **compared,
        # A power law falls as far by its last two drops as by many; a geometric curve, steepening, does not.
        "steepening": np.clip((compared["last two"] - compared["regression"]) / bend, -STEEP, STEEP),
    }


def _weighted(weights: Matrix, rows: Matrix) -> Matrix:
    # einsum instead of a matrix product: the sum of a column must not depend on how many columns there are.
    return np.asarray(np.einsum("a,aj->j", weights, rows))


def _bend(candidates: Candidates) -> Matrix:
    """How much the logarithm of the drops bends from one iteration to the next; 0.3 before anything is known."""
    logs, falling = candidates.logs, candidates.falling
    bend = np.abs(logs[2:] - 2.0 * logs[1:-1] + logs[:-2])
    three = falling[2:] * falling[1:-1] * falling[:-2]
    weights = SHORT ** np.arange(float(len(bend)))
    typical = (_weighted(weights, bend * three) + 0.15) / (_weighted(weights, three) + 0.5)
    return np.asarray(typical + 0.003)


def _alternation(drops: Matrix, weights: Matrix) -> Matrix:
    """1 if every drop equals the one before, -1 if they change their sign each time: noise around a level."""
    newer, older = drops[:-1], drops[1:]
    larger = np.maximum(newer**2, older**2)
    return np.asarray(_weighted(weights, newer * older) / np.maximum(_weighted(weights, larger), NOTHING))


def _compared(candidates: Candidates) -> dict[str, Matrix]:
    """How much further curves fall than with drops like 1/iteration, and how the pace has changed, as logarithms."""
    window = candidates.window
    newest = np.maximum(window.drops[0], NOTHING)
    harmonic = newest * window.points * np.log1p(AHEAD[0] / (window.points + 0.5))
    way = way_ahead(AHEAD, window.points)

    def further(curve: Curve) -> Matrix:
        return _log(candidates.fall(curve, way)[0] / harmonic)

    regression, geometric = further(candidates.curves["regression"]), further(candidates.curves["geometric"])
    return {
        "last two": further(candidates.curves["last two"]),
        "halves": further(candidates.curves["halves"]),
        "regression": regression,
        "regression, either way": np.abs(regression),
        "geometric": geometric,
        "geometric, either way": np.abs(geometric),
        "pace, either way": np.abs(_log(window.losses[3] / (3.0 * newest))),
    }


def _log(factor: Matrix) -> Matrix:
    return np.asarray(np.log(np.clip(factor, 1.0 / FAR, FAR)))

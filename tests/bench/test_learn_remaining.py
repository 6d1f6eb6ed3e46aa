"""Learning how many iterations remain: the states of runs, what is learned of them, and how it is judged."""

import json

import numpy as np
from click.testing import CliRunner

from slaq.bench import _remaining as remaining
from slaq.bench.learn import command
from slaq.predict.learned_remaining import MEAN, SPREAD, WEIGHTS
from slaq.predict.remaining import GRID, MILESTONES, PRODUCTS
from slaq.predict.series import pack
from slaq.predict.signs import HORIZONS, KINDS, prospect, signs


def runs():
    return [
        {"algorithm": name, "optimizer": "gd", "kind": "smooth", "losses": (1.0 + pace ** np.arange(length)).tolist()}
        for name, pace in (("LogReg", 0.8), ("LDA", 0.95))
        for length in (20, 40, 60)
    ]


def test_the_numbers_that_ship_fit_the_signs():
    series = pack([[3.0, 2.0]])
    ahead = prospect(np.array([3.0]), np.full((1, len(HORIZONS)), 2.0), np.array([9.0]))
    count = len(signs(series, np.array([3.0]), ahead)) + len(KINDS)
    assert len(MEAN) == len(SPREAD) == count
    assert {len(weights) for weights in WEIGHTS} == {PRODUCTS * count + 2}
    assert len(WEIGHTS) == len(MILESTONES)


def test_a_state_says_how_far_its_run_was_from_every_milestone():
    straight = {"algorithm": "x", "optimizer": "gd", "kind": "smooth", "losses": [10.0 - k for k in range(11)]}
    data = remaining.states([straight])
    whole = (data.left + np.maximum(data.losses - 1.0, 0.0)) == 10.0
    fourth = whole & (data.losses == 4)
    assert data.away[fourth].tolist() == [[6.0, 7.0, 7.0]]


def test_what_is_learned_tells_quick_runs_from_slow_ones():
    data = remaining.states(runs())
    chance = remaining.likely(remaining.learn(data), data)
    even = np.full_like(chance[0], 0.5)
    assert remaining.crps(chance[0], data.away[:, 0]).mean() < 0.2 * remaining.crps(even, data.away[:, 0]).mean()
    assert (np.diff(chance, axis=1) >= 0.0).all()


def test_places_are_even_where_the_distribution_is_right():
    rng = np.random.default_rng(3)
    away = np.floor(np.expm1(rng.uniform(0.0, np.log1p(64.0), 4000)))
    chance = np.minimum(np.log1p(GRID + 1.0) - np.log1p(0.0), np.log1p(64.0)) / np.log1p(64.0)
    place = remaining.places(np.repeat(chance[:, None], len(away), axis=1), away, np.full(len(away), 64.0), rng)
    assert np.abs(np.quantile(place, [0.25, 0.5, 0.75]) - [0.25, 0.5, 0.75]).max() < 0.06


def test_the_command_judges_unseen_algorithms_and_writes_a_module(tmp_path):
    traces, module = tmp_path / "runs.json", tmp_path / "learned.py"
    traces.write_text(json.dumps(runs()))
    options = ["--what", "remaining", "--traces", str(traces), "--write", str(module), "--format", "json"]
    done = CliRunner().invoke(command, options, catch_exceptions=False)
    rows = json.loads(done.stdout)["unseen"]
    assert {row["to"] for row in rows} == {"90%", "95%", "100%"}
    assert all(0.0 <= row["50%"] <= 100.0 for row in rows)
    namespace: dict[str, object] = {}
    exec(module.read_text(), namespace)
    assert len(namespace["WEIGHTS"]) == len(MILESTONES)

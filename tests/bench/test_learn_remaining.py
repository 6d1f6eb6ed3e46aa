"""Learning how many iterations remain: the states of runs, what is learned of them, and how it is judged."""

import json
from dataclasses import replace

import numpy as np
from click.testing import CliRunner

from slaq.bench import _remaining as remaining
from slaq.bench.learn import command
from slaq.predict.learned_remaining import MEAN, SPREAD, WEIGHTS
from slaq.predict.remaining import MILESTONES, PRODUCTS
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
    mean, spread, weights = remaining.learn(data)
    knows_nothing = (mean, spread, np.zeros_like(weights))
    learned, blind = (remaining.crps(each, data)[0].mean() for each in ((mean, spread, weights), knows_nothing))
    assert learned < 0.35 * blind


def test_a_job_without_a_name_is_judged_as_the_runs_are_on_average():
    data = remaining.states(runs())
    learned, unnamed = remaining.learn(data), data.unnamed()
    unseen = unnamed.where(unnamed.losses == 0)
    place = remaining.places(learned, unseen, np.random.default_rng(1))[0]
    assert abs(np.average(place <= 0.5, weights=unseen.weight) - 0.5) < 0.15


def test_places_are_even_where_the_distribution_is_right():
    data = remaining.states(runs())
    learned, rng = remaining.learn(data), np.random.default_rng(3)
    horizon = np.arange(200.0)[:, None] * np.ones(len(data.left))
    chance = remaining.likely(learned, data, horizon)[0]
    assert (np.diff(chance, axis=0) >= 0.0).all()
    # Truths drawn from the distributions themselves.
    away = np.count_nonzero(chance < rng.random(len(data.left)), axis=0).astype(float)
    drawn = replace(data, away=np.repeat(away[:, None], len(MILESTONES), axis=1))
    place = remaining.places(learned, drawn, rng)[0]
    assert np.abs(np.quantile(place, [0.25, 0.5, 0.75]) - [0.25, 0.5, 0.75]).max() < 0.06


def test_newtons_method_finds_the_weights_that_made_the_data():
    rng = np.random.default_rng(5)
    x = np.hstack([np.ones((20_000, 1)), rng.standard_normal((20_000, 2))])
    true = np.array([-0.5, 2.0, -1.0])
    y = (rng.random(len(x)) < 1.0 / (1.0 + np.exp(-x @ true))).astype(float)
    assert np.abs(remaining.logistic(x, y, np.ones(len(x))) - true).max() < 0.1


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

"""Learning the gate: it finds the candidate that fits, and the numbers that ship are in its form."""

import numpy as np

from slaq.bench._learning import examples, learn, shares
from slaq.bench.learn import _module
from slaq.predict.candidates import NAMES, outline
from slaq.predict.features import features
from slaq.predict.learned import GATE
from slaq.predict.series import pack
from slaq.predict.window import look_back


def test_the_gate_that_ships_knows_all_features_and_candidates():
    assert list(GATE) == list(features(outline(look_back(pack([[3.0, 2.0], [1.0]])))))
    assert {len(row) for row in GATE.values()} == {len(NAMES)}


def test_a_learned_gate_beats_equal_shares_on_its_examples():
    runs = [
        {"kind": "smooth", "losses": ((1.0 + c * np.arange(40.0)) ** -p).tolist()}
        for c in (0.1, 1.0)
        for p in (0.5, 2.0)
    ]
    data = examples(runs)
    gate = learn(data, starts=1)

    def error(share):
        mixture = (share[:, :, None] * data.candidates).sum(axis=1)
        return (data.weight * np.abs(mixture - data.truth)).sum()

    assert error(shares(gate, data.features)) < 0.2 * error(shares(0.0 * gate, data.features))


def test_a_written_gate_can_be_read_back():
    gate = np.arange(len(GATE) * len(NAMES), dtype=np.float64).reshape(len(GATE), len(NAMES)) / 8.0
    namespace: dict[str, dict[str, tuple[float, ...]]] = {}
    exec(_module(gate), namespace)
    assert np.array(list(namespace["GATE"].values())).tolist() == gate.tolist()

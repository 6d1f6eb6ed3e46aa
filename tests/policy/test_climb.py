"""The climb at sizes where it has to look far ahead."""

import numpy as np
import pytest

from slaq.bench._algorithm_1 import algorithm_1
from slaq.policy.climb import climb, marginal


@pytest.mark.parametrize(("jobs", "cores"), [(1, 50_000), (3, 20_000), (300, 3_000), (2_000, 6_000)])
def test_it_hands_out_as_the_heap_does_at_any_size(jobs, cores):
    rng = np.random.default_rng(jobs)
    scale, bend = rng.uniform(0.01, 1, jobs), rng.uniform(1, 400, jobs)
    cap = np.where(rng.random(jobs) < 0.3, rng.integers(1, 50, jobs), cores).astype(float)

    def reduction(job, held):
        return scale[job] * held / (bend[job] + held)

    won = climb(marginal(reduction), np.ones(jobs), cap, cores - jobs).won
    literal = algorithm_1(lambda job, held: float(reduction(job, float(held))), [1.0] * jobs, cap.tolist(), cores)
    assert (1 + won).tolist() == literal


def test_it_asks_only_as_far_ahead_as_the_cores_reach():
    asked = 0

    def value(_, held):
        nonlocal asked
        asked += held.size
        return 1.0 / (1.0 + held)

    climb(value, np.ones(1000), np.full(1000, 1e6), 3000)
    assert asked < 20 * 1000


def test_a_fraction_of_a_core_goes_out_last():
    result = climb(lambda job, held: -held - job / 10, np.ones(3), np.full(3, 9.0), 1.25)
    assert result.won.tolist() == [1.0, 0.25, 0.0]


def test_nothing_to_hand_out():
    assert climb(lambda _, held: held, np.ones(2), np.ones(2), 5).won.tolist() == [0.0, 0.0]
    assert climb(lambda _, held: held, np.ones(0), np.ones(0), 5).won.tolist() == []

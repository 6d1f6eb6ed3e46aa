"""The runtime model: c·S/N from CPU time and data size, a serial part when the data shows one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaq.model import History, Iteration
from slaq.predict.runtime import learn_runtime
from tests.strategies import histories


def history_of(*costs: Iteration) -> History:
    history = History()
    for cost in costs:
        history = history.add(cost)
    return history


def iteration_s(history: History, cores: float) -> float:
    runtime = learn_runtime([history])
    return float(1.0 / runtime.iterations(np.array([0]), np.array([cores]), 1.0)[0])


def test_cpu_time_is_shared_out_over_the_cores_however_they_varied():
    varied = history_of(*(Iteration(1.0, wall_s=12.0 / n, cpu_s=12.0, cores=n, size=3.0) for n in (1, 4, 2, 6, 3)))
    assert iteration_s(varied, 8.0) == pytest.approx(1.5)


def test_an_iteration_over_more_data_takes_longer_in_proportion():
    history = history_of(
        *(Iteration(1.0, wall_s=s, cpu_s=s, cores=1.0, size=10.0 * s) for s in (1.0, 2.0, 3.0)),
        Iteration(1.0, wall_s=6.0, cpu_s=6.0, cores=1.0, size=60.0),
    )
    assert iteration_s(history, 2.0) == pytest.approx(3.0)


def test_an_iteration_that_is_said_to_cost_next_to_nothing_is_still_a_number():
    assert np.isfinite(1.0 / iteration_s(history_of(Iteration(1.0, wall_s=0.0, cpu_s=5e-324, cores=1.0)), 1e6))


def test_a_serial_part_does_not_shrink_with_more_cores():
    history = history_of(
        *(Iteration(1.0, wall_s=2.0 + 12.0 / n, cpu_s=12.0, cores=n, size=1.0) for n in (1, 4, 2, 6, 3))
    )
    assert iteration_s(history, 1000.0) == pytest.approx(2.0, rel=0.01)


def test_a_little_jitter_is_not_taken_for_a_serial_part():
    history = history_of(
        *(Iteration(1.0, wall_s=1.05 * 12.0 / n, cpu_s=12.0, cores=n, size=1.0) for n in (1, 4, 2, 6, 3))
    )
    assert iteration_s(history, 1000.0) == pytest.approx(0.012)


def test_one_straggler_does_not_spoil_the_estimate():
    usual = [Iteration(1.0, wall_s=2.0, cpu_s=4.0, cores=2.0, size=1.0)] * 4
    slow = Iteration(1.0, wall_s=500.0, cpu_s=900.0, cores=2.0, size=1.0)
    assert iteration_s(history_of(*usual, slow, *usual), 4.0) == pytest.approx(1.0)


def test_losses_that_come_two_at_a_time_cost_what_both_cost_together():
    pair = [Iteration(1.0, wall_s=3.0, cpu_s=5.0, cores=2.0), Iteration(1.0, wall_s=0.5, cpu_s=1.0, cores=2.0)]
    for count in (2, 4, 6, 7):
        assert learn_runtime([history_of(*(pair * 4)[:count])]).work_core_s == pytest.approx(3.0, rel=0.4)
    assert learn_runtime([history_of(*pair * 4)]).work_core_s == pytest.approx(3.0)


def test_without_cpu_time_the_held_cores_time_counts():
    history = history_of(*[Iteration(1.0, wall_s=3.0, cores=2.0)] * 3)
    assert iteration_s(history, 3.0) == pytest.approx(2.0)


def test_nothing_is_known_of_a_job_without_costs():
    assert np.isnan(learn_runtime([History()]).work_core_s).all()


@given(st.lists(histories(), max_size=4))
def test_any_cost_gives_a_positive_runtime_or_none(members):
    runtime = learn_runtime(members)
    assert not (runtime.work_core_s <= 0).any()
    assert (runtime.serial_s >= 0).all()

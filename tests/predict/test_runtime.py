"""The runtime model: work shared out over the cores, and a serial part that is not."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaq.model import History, Report
from slaq.predict.runtime import learn_runtime
from tests.strategies import histories


def history_of(*costs: tuple[float | None, float | None]) -> History:
    history = History()
    for work_core_s, serial_s in costs:
        history = history.add(Report(1.0, None, work_core_s, serial_s))
    return history


def iteration_s(history: History, cores: float) -> float:
    runtime = learn_runtime([history])
    return float(1.0 / runtime.iterations(np.array([0]), np.array([cores]), 1.0)[0])


def test_work_is_shared_out_over_the_cores():
    assert iteration_s(history_of(*[(12.0, 0.0)] * 5), 8.0) == pytest.approx(1.5)


def test_a_serial_part_does_not_shrink_with_more_cores():
    assert iteration_s(history_of(*[(12.0, 2.0)] * 5), 1000.0) == pytest.approx(2.0, rel=0.01)


def test_without_a_serial_part_all_is_work():
    assert iteration_s(history_of(*[(12.0, None)] * 5), 1000.0) == pytest.approx(0.012)


def test_an_iteration_that_is_said_to_cost_next_to_nothing_still_takes_time():
    assert np.isfinite(1.0 / iteration_s(history_of((5e-324, 0.0)), 1e6))


@pytest.mark.parametrize("cost", [-1.0, math.nan, math.inf, 1e16])
def test_a_cost_that_makes_no_sense_counts_as_unknown(cost):
    assert iteration_s(history_of((4.0, 1.0), (cost, cost), (4.0, 1.0)), 2.0) == pytest.approx(3.0)


def test_one_straggler_does_not_spoil_the_estimate():
    usual, slow = [(4.0, 0.0)] * 4, (900.0, 100.0)
    assert iteration_s(history_of(*usual, slow, *usual), 4.0) == pytest.approx(1.0)


def test_losses_that_come_two_at_a_time_cost_what_both_cost_together():
    pair = [(5.0, 0.5), (1.0, 0.0)]
    for count in (2, 4, 6, 7):
        assert learn_runtime([history_of(*(pair * 4)[:count])]).work_core_s == pytest.approx(3.0, rel=0.4)
    assert learn_runtime([history_of(*pair * 4)]).work_core_s == pytest.approx(3.0)


def test_nothing_is_known_of_a_job_without_costs():
    assert np.isnan(learn_runtime([History()]).work_core_s).all()


@given(st.lists(histories(), max_size=4))
def test_any_cost_gives_a_positive_runtime_or_none(members):
    runtime = learn_runtime(members)
    assert not (runtime.work_core_s <= 0).any()
    assert (runtime.serial_s >= 0).all()

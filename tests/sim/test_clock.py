"""The virtual clock: simulated time adds up, and the engine is the one that decides."""

import math

import numpy as np
import pytest

from slaq.engine import Allocated, JobJoined, JobLeft, JobReported, State, run
from slaq.errors import SlaqError
from slaq.sim.clock import simulate
from slaq.sim.contenders import contender
from slaq.sim.curves import Curve
from slaq.sim.workload import Setting, draw

HALVING = [Curve("test", tuple(2.0**-k for k in range(11)))]


def simulated(policy: str = "fair", predictor: str = "slaq", **declared):
    setting = Setting(**{"jobs": 6, "cores": 12, "gap_s": 5.0, "work_core_s": 10.0, "iterations": 10} | declared)
    one = contender(policy, predictor)
    return setting, simulate(
        draw(setting, HALVING, 1),
        one.policy,
        lambda cluster: one.predictor(cluster, 1),
        cores=setting.cores,
        epoch_s=setting.epoch_s,
        switch_s=setting.switch_s,
    )


def test_a_job_alone_takes_its_work_divided_by_its_cores():
    _, found = simulated(jobs=1, work_spread=0.0)
    np.testing.assert_allclose(found.finish_s[0, 1:], np.arange(1, 11) * 10.0 / 12)


def test_iterations_end_at_their_true_time_within_an_epoch_and_jobs_begin_with_the_next_epoch():
    _, found = simulated(jobs=2, gap_s=4.0, work_spread=0.0)
    began = math.ceil(found.workload.arrival_s[1] / 3.0) * 3.0
    assert found.finish_s[1, 1] > began
    assert (np.diff(found.finish_s[:, 1:], axis=1) > 0).all()


def test_a_serial_part_bounds_the_speed():
    _, linear = simulated(jobs=1, work_spread=0.0)
    _, bounded = simulated(jobs=1, work_spread=0.0, serial=0.5)
    assert bounded.finish_s[0, 10] == pytest.approx(10 * (5.0 + 5.0 / 12))
    assert bounded.finish_s[0, 10] > 5 * linear.finish_s[0, 10]


def test_a_cap_bounds_the_speed():
    _, found = simulated(jobs=1, work_spread=0.0, cap=4.0)
    assert found.finish_s[0, 10] == pytest.approx(10 * 10.0 / 4)


def test_newly_given_cores_are_idle_while_they_switch():
    _, found = simulated(jobs=1, work_spread=0.0, switch_s=1.0)
    # The first epoch yields 2 of 3 s; afterwards nothing changes hands.
    assert found.finish_s[0, 10] == pytest.approx(100 / 12 + 1.0)


def test_noise_changes_the_times_of_iterations_but_not_by_much_their_sum():
    _, found = simulated(jobs=1, work_spread=0.0, noise=0.2)
    times = np.diff(found.finish_s[0, 1:])
    assert times.std() > 0.01
    assert found.finish_s[0, 10] == pytest.approx(100 / 12, rel=0.3)


@pytest.mark.parametrize("policy", ["fair", "fifo", "max-total", "max-min", "finish-line", "least-attained"])
def test_all_the_work_is_done_whatever_the_policy(policy):
    setting, found = simulated(policy)
    assert np.isfinite(found.finish_s[:, 10]).all()
    work = found.workload.work_core_s.sum() * 10
    busy_s = found.finish_s[:, 10].max() - found.workload.arrival_s[0]
    assert busy_s >= work / setting.cores * (1 - 1e-9)


def test_the_same_seed_gives_the_same_run_to_the_last_bit():
    _, once = simulated("finish-line", noise=0.1, crash=0.3, nonsense=0.3)
    _, again = simulated("finish-line", noise=0.1, crash=0.3, nonsense=0.3)
    np.testing.assert_array_equal(once.finish_s, again.finish_s)


def test_crashing_jobs_leave_early_and_liars_do_not_disturb_the_others():
    _, found = simulated("max-total", jobs=20, crash=0.5, nonsense=0.5)
    crashed = ~found.workload.finishes
    assert crashed.any()
    assert np.isnan(found.finish_s[crashed, 10]).all()
    assert np.isfinite(found.finish_s[~crashed, 10]).all()


def test_jobs_that_train_nothing_get_their_work_done_beside():
    _, found = simulated("finish-line", jobs=12, others=0.5)
    assert not found.workload.ml.all()
    assert np.isfinite(found.finish_s[:, 10]).all()


def test_the_engine_replays_what_the_simulator_told_it_to_the_same_decisions():
    told, decided = [], []
    one = contender("max-total")
    simulate(
        draw(Setting(jobs=4, cores=8, gap_s=5.0, work_core_s=10.0, iterations=10), HALVING, 3),
        one.policy,
        lambda cluster: one.predictor(cluster, 3),
        cores=8,
        epoch_s=3.0,
        observe=lambda events, effects: (told.extend(events), decided.extend(effects)),
    )
    assert sum(isinstance(event, JobJoined) for event in told) == 4
    assert sum(isinstance(event, JobLeft) for event in told) == 4
    assert sum(len(event.reports) for event in told if isinstance(event, JobReported)) == 4 * 11
    _, effects = run(State(cores=8, policy="max-total", epoch_s=3.0, lease_s=60.0), told)
    assert [e.decision for e in effects if isinstance(e, Allocated)] == [
        e.decision for e in decided if isinstance(e, Allocated)
    ]


def test_an_epoch_of_no_length_is_refused():
    with pytest.raises(SlaqError, match="epoch is 0"):
        simulated(epoch_s=0.0)


def test_time_can_be_cut_off():
    workload = draw(Setting(jobs=4, iterations=10), HALVING, 0)
    found = simulate(
        workload, "fair", lambda cluster: contender("fair").predictor(cluster, 0), cores=4, epoch_s=3.0, until_s=9.0
    )
    assert found.epochs <= 3

"""The virtual clock: simulated time adds up, and the engine is the one that decides."""

import math

import numpy as np
import pytest

from slaq.engine import Allocated, JobJoined, JobMoved, JobReported, JobSeen, State, run
from slaq.errors import SlaqError
from slaq.sim.clock import simulate
from slaq.sim.contenders import contender
from slaq.sim.curves import Curve
from slaq.sim.predictors import make
from slaq.sim.workload import Setting, Workload, draw

HALVING = [Curve("test", tuple(2.0**-k for k in range(11)))]


def simulated(policy: str = "fair", predictor: str = "learned", **declared):
    setting = Setting(**{"jobs": 6, "cores": 12, "gap_s": 5.0, "work_core_s": 10.0, "iterations": 10} | declared)
    one = contender(policy, predictor)
    return setting, simulate(
        draw(setting, HALVING, 1),
        one.policy,
        lambda cluster: make(one.predictor, cluster, 1),
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


@pytest.mark.parametrize(
    "policy", ["fair", "fifo", "max-total", "max-min", "finish-line", "least-attained", "shortest-remaining"]
)
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
        lambda cluster: make(one.predictor, cluster, 3),
        cores=8,
        epoch_s=3.0,
        observe=lambda events, effects: (told.extend(events), decided.extend(effects)),
    )
    assert sum(isinstance(event, JobJoined) for event in told) == 4
    assert [event.move for event in told if isinstance(event, JobMoved)] == ["finish"] * 4
    assert sum(len(event.reports) for event in told if isinstance(event, JobReported)) == 4 * 11
    _, effects = run(State(cores=8, policy="max-total", epoch_s=3.0, lease_s=60.0), told)
    assert [e.decision for e in effects if isinstance(e, Allocated)] == [
        e.decision for e in decided if isinstance(e, Allocated)
    ]


def told_by(**declared) -> tuple[list, Workload]:
    """Everything that simulated drivers tell the engine, and the workload."""
    setting = Setting(**{"jobs": 1, "cores": 8, "work_core_s": 10.0, "work_spread": 0.0, "iterations": 10} | declared)
    workload, told = draw(setting, HALVING, 3), []
    simulate(
        workload,
        "fair",
        lambda cluster: make("learned", cluster, 3),
        cores=8,
        epoch_s=3.0,
        observe=lambda events, _: told.extend(events),
    )
    return told, workload


def test_drivers_report_the_true_work_and_the_serial_part_of_every_iteration():
    told, _ = told_by(serial=0.5)
    reports = [report for event in told if isinstance(event, JobReported) for report in event.reports]
    assert [report.iteration for report in reports] == list(range(11))
    assert reports[0].work_core_s is None, "the loss before training is no iteration"
    assert [report.work_core_s for report in reports[1:]] == pytest.approx([5.0] * 10)
    assert [report.serial_s for report in reports[1:]] == pytest.approx([5.0] * 10)


def test_drivers_tell_what_their_tasks_held_in_every_epoch():
    told, workload = told_by(jobs=3, gap_s=1.0, noise=0.1, others=0.4)
    for name, whole in zip(workload.names, workload.work_core_s * workload.cost[:, -1], strict=True):
        held = [
            event.held_core_s for event in told if isinstance(event, JobReported | JobSeen) and event.job_id == name
        ]
        assert held == sorted(held)
        assert held[-1] == pytest.approx(whole)


def test_a_serial_part_holds_no_core():
    told, _ = told_by(serial=0.5)
    assert max(event.held_core_s for event in told if isinstance(event, JobReported)) == pytest.approx(50.0)


def test_a_crash_is_told_as_a_failure_and_nonsense_as_no_number():
    told, workload = told_by(jobs=20, crash=0.5, nonsense=0.5)
    moves = {event.job_id: event.move for event in told if isinstance(event, JobMoved)}
    assert [moves[name] for name in workload.names] == np.where(workload.finishes, "finish", "fail").tolist()
    losses = [report.loss for event in told if isinstance(event, JobReported) for report in event.reports]
    assert None in losses
    assert all(loss is None or math.isfinite(loss) for loss in losses)


def test_jobs_name_their_estimator_unless_they_are_told_not_to():
    curves = [Curve("KMeans", (2.0, 1.0), estimator="KMeans")]
    named, hidden = (draw(Setting(jobs=3, unnamed=unnamed), curves, 0) for unnamed in (0.0, 1.0))
    assert {job.estimator for job in named.declared} == {"KMeans"}
    assert {job.estimator for job in hidden.declared} == {""}
    np.testing.assert_array_equal(named.arrival_s, hidden.arrival_s)


def test_an_epoch_of_no_length_is_refused():
    with pytest.raises(SlaqError, match="epoch is 0"):
        simulated(epoch_s=0.0)


def test_time_can_be_cut_off():
    workload = draw(Setting(jobs=4, iterations=10), HALVING, 0)
    found = simulate(workload, "fair", lambda cluster: make("learned", cluster, 0), cores=4, epoch_s=3.0, until_s=9.0)
    assert found.epochs <= 3

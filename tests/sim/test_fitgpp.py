"""FitGpp's simulation: the specification's cases, what always holds, and the published claims on small sets."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from slaq.cli.simulate import command
from slaq.sim.fitgpp_cluster import DISCIPLINES, Cluster
from slaq.sim.fitgpp_compare import compare, slowdowns, switched
from slaq.sim.fitgpp_workload import NODE, SWITCHES, FitGppSetting, Jobs, draw

ONE = FitGppSetting(nodes=1, jobs=1)


def simulated(*rows, discipline="fitgpp", setting=ONE):
    """The cluster after jobs of (arrival, TE, execution, grace, GPU), in order of arrival."""
    demand = np.array([(row[4], row[4], row[4]) for row in rows], dtype=float)
    jobs = Jobs(
        np.array([row[1] for row in rows], dtype=bool),
        np.array([row[2] for row in rows], dtype=float),
        np.array([row[3] for row in rows], dtype=float),
        demand,
    )
    cluster = Cluster(setting, jobs, np.array([row[0] for row in rows], dtype=float), discipline)
    return jobs, cluster.run()


BE, TE = False, True


def test_a_preempted_job_keeps_its_progress_and_resumes_when_the_preemptor_has_ended():
    _, outcome = simulated((0, BE, 100, 10, 8), (20, TE, 30, 0, 8))
    assert outcome.first_s.tolist() == [0.0, 30.0]  # the grace period of the victim is waited for
    assert outcome.ended_s.tolist() == [140.0, 60.0]  # 20 s done, 10 s grace, 30 s away, 80 s left
    assert outcome.intervals_s == [30.0]


@pytest.mark.parametrize(("s", "victim"), [(0.0, 0), (4.0, 1)])
def test_the_weight_of_the_grace_period_decides_between_small_and_quick(s, victim):
    _, outcome = simulated((0, BE, 100, 10, 2), (0, BE, 100, 1, 6), (5, TE, 5, 0, 2), setting=replace(ONE, s=s))
    assert outcome.preemptions[victim] == 1
    assert outcome.preemptions.sum() == 1


def test_after_p_preemptions_a_job_is_immune_and_the_trial_waits_for_its_end():
    rows = ((0, BE, 100, 0, 8), (10, TE, 10, 0, 8), (30, TE, 10, 0, 8))
    _, once = simulated(*rows)
    assert once.first_s.tolist() == [0.0, 10.0, 110.0]
    assert once.fallbacks == 1
    _, twice = simulated(*rows, setting=replace(ONE, P=2))
    assert twice.first_s.tolist() == [0.0, 10.0, 30.0]
    assert twice.fallbacks == 0


def test_room_that_is_reserved_for_one_trial_is_not_free_for_another():
    # 2 GPU are free; the first trial takes them together with the victim's 4, so the second has to find its own.
    rows = ((0, BE, 100, 10, 4), (0, BE, 100, 50, 2), (1, TE, 10, 0, 6), (2, TE, 10, 0, 2))
    _, outcome = simulated(*rows)
    assert outcome.preemptions.tolist() == [1, 1, 0, 0]
    assert outcome.first_s[2] == 11.0
    assert outcome.first_s[3] == 52.0


def test_a_job_may_finish_in_its_grace_period_where_that_is_allowed():
    rows = ((0, BE, 30, 20, 8), (20, TE, 10, 0, 8))
    _, frozen = simulated(*rows)
    assert frozen.ended_s.tolist() == [60.0, 50.0]
    _, allowed = simulated(*rows, setting=replace(ONE, finish="allow"))
    assert allowed.ended_s.tolist() == [30.0, 40.0]
    assert allowed.preemptions.sum() == 0


@pytest.mark.parametrize(("change", "ends_s"), [({"lost": "all"}, 160.0), ({"restart_s": 7.0}, 147.0)])
def test_lost_work_and_restarts_are_done_again(change, ends_s):
    _, outcome = simulated((0, BE, 100, 10, 8), (20, TE, 30, 0, 8), setting=replace(ONE, **change))
    assert outcome.ended_s[0] == ends_s


def test_the_longest_remaining_job_is_lrtps_victim():
    _, outcome = simulated((0, BE, 100, 1, 4), (0, BE, 900, 9, 4), (5, TE, 5, 0, 4), discipline="lrtp")
    assert outcome.preemptions.tolist() == [0, 1, 0]


def test_without_trials_every_discipline_is_fifo():
    setting = FitGppSetting(nodes=2, jobs=200, te_share=0.0)
    jobs = draw(setting, 3)
    fifo = Cluster(setting, jobs, None, "fifo").run()
    for name in DISCIPLINES:
        assert (Cluster(setting, jobs, fifo.arrived_s, name).run().ended_s == fifo.ended_s).all()


def test_an_unhindered_job_has_a_slowdown_of_exactly_one():
    jobs, outcome = simulated((0, BE, 100, 10, 4), (500, TE, 30, 0, 8))
    assert slowdowns(ONE, jobs, outcome).tolist() == [1.0, 1.0]


choices = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in SWITCHES.items()})


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), choices, st.sampled_from(DISCIPLINES), st.sampled_from([1.0, 2.0, np.inf]))
def test_whatever_the_switches_every_job_ends_nothing_is_overcommitted_and_p_holds(seed, switches, discipline, most):
    assume(switches["reservation"] == "node" or switches["lost"] == "none")
    setting = FitGppSetting(nodes=2, jobs=60, P=most, **switches)
    jobs = draw(setting, seed)
    arrived_s = Cluster(replace(setting, blocking="strict"), jobs, None, "fifo").run().arrived_s
    outcome = Cluster(setting, jobs, arrived_s, discipline, seed).run()
    assert (jobs.demand <= NODE).all()
    assert outcome.overfull <= 1e-6
    assert np.isfinite(outcome.ended_s).all()
    assert (outcome.ended_s - outcome.arrived_s >= jobs.exec_s - 1e-6).all()
    assert (outcome.preemptions[jobs.te] == 0).all()
    if discipline in ("fitgpp", "lrtp+p", "rand+p"):
        assert outcome.preemptions.max() <= most
    if discipline in ("fifo", "priority"):
        assert outcome.preemptions.sum() == 0


SETS = range(3)
SMALL = FitGppSetting(jobs=3000)


@pytest.fixture(scope="module")
def rows():
    return {row["discipline"]: row for row in compare(SMALL, SETS)}


def test_the_published_claims_hold(rows):
    fifo, fitgpp = rows["fifo"], rows["fitgpp"]
    assert fifo["te_p95"] >= 29.4  # below, the load is too light to show the published reduction
    assert fitgpp["change"]["te_p95"] <= -0.95
    assert fitgpp["te_p50"] <= 1.2
    assert fitgpp["change"]["be_p50"] <= 0.25
    assert fitgpp["change"]["be_p95"] <= 0.30


def test_fitgpp_hurts_fewer_jobs_than_its_baselines_and_lets_trials_in_sooner(rows):
    fitgpp = rows["fitgpp"]
    assert fitgpp["most_preemptions"] == 1
    assert fitgpp["fallbacks"] < 0.01
    for other in ("lrtp", "rand", "lrtp+p", "rand+p"):
        assert fitgpp["te_p95"] < rows[other]["te_p95"]
        assert fitgpp["preempted"]["1"] < rows[other]["preempted"]["1"]
        assert fitgpp["lost_capacity"] < rows[other]["lost_capacity"]


def test_the_grace_period_in_the_score_is_worth_more_than_the_spread_between_sets(rows):
    small_first = compare(replace(SMALL, s=0.0), SETS, ("fifo", "fitgpp"))[1]
    assert max(rows["fitgpp"]["te_p95_by_set"]) < min(small_first["te_p95_by_set"])


def test_every_switch_is_changed_once():
    assert len(switched(FitGppSetting())) == sum(len(values) - 1 for values in SWITCHES.values())


def test_the_command_prints_the_table_and_the_published_changes():
    tiny = [
        "--paper",
        "fitgpp",
        "--seeds",
        "2",
        "--processes",
        "1",
        "--set",
        "jobs=200",
        "--set",
        "nodes=4",
    ]
    text = CliRunner().invoke(command, tiny)
    assert text.exit_code == 0, text.output
    assert "published -96.6%" in text.output
    assert "lrtp+p" in text.output
    found = json.loads(CliRunner().invoke(command, [*tiny, "--set", "switches=all", "--format", "json"]).output)
    assert [row["discipline"] for row in found["disciplines"]] == list(DISCIPLINES)
    assert len(found["switches"]) == len(switched(FitGppSetting()))


@pytest.mark.parametrize(
    ("change", "words"),
    [("nodes=0", "give a number above 0"), ("fallback=cry", "fallback"), ("colour=red", "no such switch")],
)
def test_a_setting_that_makes_no_sense_is_refused_in_words(change, words):
    found = CliRunner().invoke(command, ["--paper", "fitgpp", "--set", change])
    assert found.exit_code != 0
    assert words in f"{found.output} {found.exception}"

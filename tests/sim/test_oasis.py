"""The evaluation of the OASiS paper, at small sizes."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from slaq.cli.simulate import command
from slaq.sim.oasis_baselines import SCHEMES, Cluster, run
from slaq.sim.oasis_compare import NAMES, compare, offline, outcome, planned
from slaq.sim.oasis_setting import OasisSetting, draw

SMALL = OasisSetting(jobs=30, slots=40, worker_servers=6, side_servers=6, epochs=(5, 40))


@pytest.mark.parametrize("name", SCHEMES)
def test_a_baseline_never_uses_more_than_there_is_and_ends_only_what_was_done(name):
    drawn = draw(SMALL, 3)

    def watched(cluster: Cluster, slot: int, jobs: list[int], arrived: list[int]) -> list[int]:
        refused = SCHEMES[name](cluster, slot, jobs, arrived)
        assert all((free > -1e-6).all() for free in cluster.free)
        assert set(cluster.held) <= set(jobs) - set(refused)
        return refused

    ended = run(drawn, watched)
    starts = np.array([request.start for request in drawn.requests])
    assert (ended[ended >= 0] >= starts[ended >= 0]).all()
    shortest = np.array([request.shortest for request in drawn.requests])
    assert (ended - starts + 1 >= shortest)[ended >= 0].all()
    assert (ended >= 0).any()


def test_plans_keep_within_the_cluster_and_utility_counts_what_ended():
    drawn = draw(SMALL, 4)
    plans = planned(drawn, "oasis")
    assert any(plan is not None for plan in plans)
    assert outcome(drawn, "oasis").utility == pytest.approx(sum(plan.value for plan in plans if plan))


def test_the_optimum_in_hindsight_is_never_below_what_was_done_online():
    rows = offline(OasisSetting(), range(2))
    assert len(rows) == 8
    assert all(row["ratio"] >= 1.0 - 1e-3 for row in rows if row["proven"])
    assert any(row["proven"] for row in rows)


def test_the_same_seeds_give_the_same_rows_in_one_process_or_two():
    assert compare(SMALL, (10,), (1, 2)) == compare(SMALL, (10,), (1, 2), processes=2)


def test_the_command_prints_every_scheme_beside_the_published_value():
    options = ["--paper", "oasis", "--seeds", "1", "--processes", "1", "--set", "jobs=100", "--set", "slots=60"]
    result = CliRunner().invoke(command, [*options, "--format", "json"])
    found = json.loads(result.output)
    assert [row["scheme"] for row in found["schemes"]] == list(NAMES)
    assert found["schemes"][0]["published"] == 2966
    assert found["setting"]["slots"] == 60
    assert {"name", "wanted", "found", "met"} == set(found["marks"][0])


@pytest.mark.parametrize("wrong", ["slot=3", "slots", "reading=page", "slots=many"])
def test_a_switch_that_makes_no_sense_is_refused_by_name(wrong):
    result = CliRunner().invoke(command, ["--paper", "oasis", "--set", wrong])
    assert result.exit_code
    assert "--set" in str(result.exception)

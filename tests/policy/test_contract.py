"""What every policy keeps, whatever the snapshot."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

from slaq import policy
from slaq.errors import SlaqError
from slaq.model import DEFAULTS, Job, Snapshot
from slaq.model.snapshot import snapshot
from slaq.predict import look_ahead
from tests.strategies import TableOutlook, decided, snapshots

every_policy = pytest.mark.parametrize("name", policy.names())


@every_policy
@given(snap=snapshots())
@settings(max_examples=60)
def test_every_job_gets_a_finite_amount_and_a_reason_in_words(name, snap):
    decision = decided(name, snap)
    assert list(decision.cores) == [job.id for job in snap.jobs] == list(decision.reasons)
    for job in snap.jobs:
        cores, reason = decision.cores[job.id], decision.reasons[job.id]
        assert math.isfinite(cores)
        assert cores >= 0
        assert reason.cores == cores
        assert str(reason).split()[1].startswith("core")


@every_policy
@given(snap=snapshots())
@settings(max_examples=60)
def test_no_more_than_there_is_and_no_more_than_a_job_can_use(name, snap):
    decision = decided(name, snap)
    assert sum(decision.cores.values()) <= snap.cores + 1e-9
    assert all(decision.cores[job.id] <= job.max_cores + 1e-9 for job in snap.jobs)


@every_policy
@given(snap=snapshots())
@settings(max_examples=60)
def test_no_core_is_withheld_while_a_job_could_use_it(name, snap):
    decision = decided(name, snap)
    usable = min(snap.cores, sum(min(job.max_cores, snap.cores) for job in snap.jobs))
    assert sum(decision.cores.values()) == pytest.approx(usable, abs=1e-6)


@every_policy
@given(snap=snapshots())
@settings(max_examples=60)
def test_one_core_each_while_there_are_enough(name, snap):
    """A group has one core for all its jobs together."""
    decision, parts = decided(name, snap), snap.groups.part
    if parts.sum() <= snap.cores:
        assert (np.array(list(decision.cores.values())) >= parts - 1e-9).all()


@every_policy
def test_a_search_of_many_fits_takes_no_more_from_a_neighbour_than_one_job_would(name):
    members = (Job("alone"), *(Job(f"fit-{i}", group="search") for i in range(7)))
    snap = Snapshot(members, 2, look_ahead(members, 1.0), epoch_s=1.0)
    if name in ("fair", "least-attained", "max-min", "max-total", "finish-line"):
        assert decided(name, snap).cores["alone"] >= 1.0 - 1e-6


def test_fair_gives_a_group_the_share_of_one_job_and_its_members_equal_parts():
    members = (Job("a"), Job("b", weight=2.0), *(Job(f"fit-{i}", group="search") for i in range(5)))
    cores = decided("fair", Snapshot(members, 8, look_ahead(members, 1.0))).cores
    assert [cores["a"], cores["b"]] == pytest.approx([2.0, 4.0])
    assert [cores[f"fit-{i}"] for i in range(5)] == pytest.approx([0.4] * 5)


def test_groups_of_the_same_name_but_of_other_users_have_nothing_to_do_with_each_other():
    members = (Job("a", user="x", group="g"), Job("b", user="y", group="g"), Job("c", user="x", group="g"))
    assert Snapshot(members, 2, look_ahead((), 1.0)).groups.part.tolist() == [0.5, 1.0, 0.5]


@every_policy
@given(snap=snapshots())
@settings(max_examples=50)
def test_work_without_a_loss_gets_at_least_its_weighted_fair_share(name, snap):
    fair = decided("fair", snap).cores
    decision = decided(name, snap)
    assert all(decision.cores[job.id] >= fair[job.id] - 1e-9 for job in snap.jobs if not job.ml)


@every_policy
@given(snap=snapshots())
@settings(max_examples=50)
def test_a_reservation_is_kept_as_far_as_the_floors_of_the_others_allow(name, snap):
    decision = decided(name, snap)
    spare = snap.cores - len(snap.jobs)
    for job in snap.jobs:
        wish = max(min(job.reserved_cores, job.max_cores) - 1, 0)
        if spare >= wish:
            assert decision.cores[job.id] >= min(job.reserved_cores, job.max_cores) - 1e-9
        spare -= wish
        if spare < 0:
            break


@every_policy
@given(snap=snapshots())
@settings(max_examples=50)
def test_the_same_snapshot_gives_the_same_decision(name, snap):
    assert decided(name, snap) == decided(name, snap)


@every_policy
@given(snap=snapshots(crowd=True))
@settings(max_examples=60)
def test_with_more_jobs_than_cores_nobody_ever_gets_less_than_a_sure_part_of_its_fair_share(name, snap):
    fair = decided("fair", snap).cores
    decision = decided(name, snap)
    assert all(decision.cores[job.id] >= DEFAULTS.crowd_share * fair[job.id] - 1e-9 for job in snap.jobs)


def test_in_a_crowd_the_other_cores_go_where_the_policy_wants_them():
    table = np.cumsum([[0, 8, 4], [0, 3, 2], [0, 5, 1], [0, 1, 1]], axis=1)
    snap = Snapshot(tuple(Job(f"job-{i}") for i in range(4)), 2, TableOutlook(table, table))
    decision = decided("max-total", snap)
    sure = DEFAULTS.crowd_share / 2
    assert list(decision.cores.values()) == pytest.approx([1 - sure, sure, 1 - sure, sure])
    assert str(decision.reasons["job-1"]).startswith("0.03 cores: more jobs than cores; this much is sure")


def test_fair_divides_what_is_too_little_for_all():
    snap = Snapshot(tuple(Job(f"job-{i}") for i in range(8)), 2, look_ahead((), 1.0))
    assert set(decided("fair", snap).cores.values()) == {0.25}


@every_policy
def test_without_cores_nobody_gets_any_and_is_told_so(name):
    members = (Job("a"), Job("b", ml=False))
    decision = decided(name, snapshot(members, 0, look_ahead(members, 1.0)))
    assert decision.cores == {"a": 0.0, "b": 0.0}
    assert str(decision.reasons["a"]) == "0 cores: there are no cores to share out"


@every_policy
def test_without_jobs_there_is_nothing_to_decide(name):
    decision = decided(name, snapshot((), 16, look_ahead((), 1.0)))
    assert decision.cores == {}


def test_an_unknown_policy_is_refused_by_name():
    with pytest.raises(
        SlaqError,
        match=r"unknown policy 'best'.*fair, fifo, finish-line, least-attained, max-min, max-total, oasis, shortest",
    ):
        policy.get("best")


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (Job("a", weight=-1), "weight is -1"),
        (Job("a", weight=float("nan")), "weight is nan"),
        (Job("a", weight=0), "weight is 0"),
        (Job("a", max_cores=0), "max_cores is 0"),
        (Job("a", reserved_cores=-2), "reserved_cores is -2"),
        (Job("a", target_loss=float("inf")), "target_loss is inf"),
        (Job("a", max_iterations=-1), "max_iterations is -1"),
        (Job(""), "non-empty id"),
    ],
)
def test_a_job_that_makes_no_sense_is_refused_with_its_value(job, message):
    with pytest.raises(SlaqError, match=message):
        snapshot((job,), 4, look_ahead((), 1.0))


@pytest.mark.parametrize("cores", [-1, 2.5, float("nan"), float("inf"), True])
def test_a_number_of_cores_that_makes_no_sense_is_refused(cores):
    with pytest.raises(SlaqError, match="cores is"):
        snapshot((Job("a"),), cores, look_ahead((), 1.0))


def test_a_job_that_is_there_twice_is_refused():
    with pytest.raises(SlaqError, match="'a' is there twice"):
        snapshot((Job("a"), Job("a")), 4, look_ahead((), 1.0))

"""The rules of a race, and a search in a loop of one's own; no Spark."""

import pytest

import slaq
from slaq.errors import SlaqError
from slaq.tuning.race import Race, best, checked, hopeless, rungs, survivors, thawed


def test_rungs_are_shares_of_the_largest_maximum_and_stay_below_it():
    assert rungs(Race(), 90) == [10, 30]
    assert rungs(Race(), 3) == [2]
    assert rungs(Race(), 2) == []
    assert rungs(Race(rungs=(5, 20)), 10) == [5]


def test_survivors_fall_to_one_by_the_same_factor():
    assert [survivors(9, rung, 2) for rung in range(2)] == [3, 1]
    assert [survivors(12, rung, 2) for rung in range(2)] == [4, 1]
    assert survivors(2, 0, 1) == 1


def test_the_best_never_include_nan():
    metrics = {0: 0.5, 1: float("nan"), 2: 0.9, 3: 0.5}
    assert best(metrics, 3, True) == (2, 0, 3)
    assert best(metrics, 1, False) == (0,)


def test_the_frozen_thaw_once_they_beat_the_leader_or_nobody_is_left():
    frozen = {1: 0.6, 2: 0.8, 3: 0.7}
    assert thawed(frozen, {0: 0.9}, True) == ()
    assert thawed(frozen, {0: 0.65}, True) == (2, 3)
    assert thawed(frozen, {0: 0.65}, False) == (1,)
    assert thawed(frozen, {0: float("nan")}, True) == (2, 3, 1)
    assert thawed({4: float("nan")}, {0: 0.1}, True) == ()


def test_hopeless_is_who_is_not_among_the_best_share():
    assert not hopeless(5.0, [], 1 / 3, False)
    assert hopeless(5.0, [1.0], 1 / 3, False)
    assert not hopeless(5.0, [1.0], 1 / 3, True)
    assert hopeless(float("nan"), [], 1 / 3, False)


@pytest.mark.parametrize("racing", ["yes", 3, Race(rungs=(5, 2)), Race(rungs=(0,)), Race(shares=(2.0,))])
def test_settings_that_make_no_sense(racing):
    with pytest.raises(SlaqError, match="give"):
        checked(racing)


def test_a_search_of_ones_own_groups_its_candidates_and_tells_the_hopeless():
    told = {}
    with slaq.search("sweep") as search:
        for name, metric in {"good": 0.1, "bad": 0.9, "better": 0.05}.items():
            with search.candidate(name) as candidate:
                candidate.report(metric)
                told[name] = candidate.should_stop()
    assert told == {"good": False, "bad": True, "better": False}
    assert {job.name: job.group for job in slaq.jobs()} == dict.fromkeys(told, "sweep")


@pytest.mark.parametrize(("name", "keep"), [("", 0.5), (3, 0.5), ("sweep", 0.0), ("sweep", 1.5)])
def test_a_search_that_makes_no_sense(name, keep):
    with pytest.raises(SlaqError, match="give"), slaq.search(name, keep=keep):
        pass

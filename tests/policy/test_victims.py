"""The choice of a victim: the specification's cases, and what holds for any jobs."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaq.policy.victims import Running, VictimRules, candidates, scores, size, victim

NODE = np.array([8.0, 64.0])


def running(*rows, free=(0.0, 0.0)):
    """Jobs from (cores, GB, grace_s[, preemptions[, ran_s[, leaving]]])."""
    full = [(*row, *(0, 100.0, False)[len(row) - 3 :]) for row in rows]
    column = lambda at: np.array([row[at] for row in full], dtype=float)  # noqa: E731 - a row of six columns
    return Running(
        np.array([row[:2] for row in full], dtype=float).reshape(-1, 2),
        np.tile(np.array(free, dtype=float), (len(full), 1)),
        column(2),
        column(3),
        column(4),
        column(5) > 0,
    )


@pytest.mark.parametrize(("weight", "chosen"), [(0.0, 0), (4.0, 1)])
def test_the_weight_of_the_grace_period_decides_between_small_and_quick(weight, chosen):
    jobs = running((2, 8, 10), (4, 8, 1))
    assert victim(np.array([2.0, 8.0]), jobs, NODE, VictimRules(grace_weight=weight)) == chosen


def test_one_resource_that_falls_short_is_enough_to_be_no_candidate():
    jobs = running((2, 8, 1), (2, 16, 9), free=(2.0, 0.0))
    assert candidates(np.array([4.0, 16.0]), jobs, VictimRules()).tolist() == [False, True]


def test_a_job_is_immune_after_its_last_preemption_and_in_its_grace_period_and_when_it_has_just_started():
    jobs = running((4, 8, 1, 1), (4, 8, 1, 0, 100.0, True), (4, 8, 1, 0, 2.0), (4, 8, 9, 0, 30.0))
    rules = VictimRules(least_run_s=10.0)
    assert victim(np.array([4.0, 8.0]), jobs, NODE, rules) == 3
    assert victim(np.array([4.0, 8.0]), running((4, 8, 1, 1)), NODE, rules) is None


def test_no_grace_period_and_a_single_job_divide_by_nothing():
    assert victim(np.array([1.0, 1.0]), running((2, 8, 0)), NODE, VictimRules()) == 0
    assert victim(np.array([1.0, 1.0]), running(), NODE, VictimRules()) is None
    assert size(np.array([[0.0, 0.0]]), np.array([8.0, 0.0])).tolist() == [0.0]


def test_ties_go_to_the_less_preempted_then_to_the_later_started():
    rules = VictimRules(most_preemptions=math.inf)
    jobs = running((2, 8, 1, 2, 1.0), (2, 8, 1, 1, 50.0), (2, 8, 1, 1, 20.0), (2, 8, 1, 1, 20.0))
    assert victim(np.array([2.0, 8.0]), jobs, NODE, rules) == 2


row = st.tuples(
    st.integers(0, 8), st.integers(0, 64), st.integers(0, 1200), st.integers(0, 3), st.integers(0, 99), st.booleans()
)
rules = st.builds(
    VictimRules,
    grace_weight=st.sampled_from([0.0, 1.0, 4.0]),
    most_preemptions=st.sampled_from([1, 2, math.inf]),
    least_run_s=st.sampled_from([0.0, 30.0]),
    among_candidates=st.booleans(),
)


@given(
    st.lists(row, max_size=12), st.tuples(st.integers(1, 8), st.integers(1, 64)),
    st.tuples(st.integers(0, 4), st.integers(0, 16)), rules,
)  # fmt: skip
def test_the_victim_is_a_candidate_with_the_lowest_score_and_its_room_is_enough(rows, needed, free, rules):
    jobs, wanted = running(*rows, free=free), np.array(needed, dtype=float)
    chosen = victim(wanted, jobs, NODE, rules)
    fit = candidates(wanted, jobs, rules)
    assert (chosen is None) == (not fit.any())
    if chosen is None:
        return
    cores, memory, _, preempted, ran_s, leaving = rows[chosen]
    assert cores + free[0] >= needed[0]
    assert memory + free[1] >= needed[1]
    assert preempted < rules.most_preemptions
    assert ran_s >= rules.least_run_s
    assert not leaving
    among = fit if rules.among_candidates else np.ones(len(rows), dtype=bool)
    score = scores(jobs, NODE, rules, among)
    assert np.isfinite(score).all()
    assert score[chosen] == score[fit].min()


@given(st.lists(row, min_size=1, max_size=12), st.integers(1, 4), rules)
def test_a_choice_that_was_made_does_not_depend_on_the_unit_of_a_resource(rows, unit, rules):
    jobs, wanted, scale = running(*rows), np.array([1.0, 1.0]), np.array([1.0, 2.0**unit])
    scaled = Running(jobs.demand * scale, jobs.free * scale, jobs.grace_s, jobs.preemptions, jobs.ran_s, jobs.leaving)
    assert victim(wanted, jobs, NODE, rules) == victim(wanted * scale, scaled, NODE * scale, rules)

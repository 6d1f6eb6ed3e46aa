"""What admission by prices keeps, whatever arrives."""

import time

import numpy as np
import pytest
from hypothesis import given, settings

from slaq.oasis import Bounds, Market, Plan, Pool, Request, Utility, best_plan
from tests.oasis.instances import best_payoff, instances, market_for


def ran(instance):
    market, jobs = instance
    return market, [(job, plan) for job in jobs if (plan := market.arrive(job)) is not None]


@given(instance=instances(most_jobs=25))
@settings(max_examples=100, deadline=None)
def test_no_capacity_is_exceeded_and_prices_stay_within_their_bounds(instance):
    check_pools(ran(instance)[0])


@given(instance=instances(sided=True, most_jobs=15))
@settings(max_examples=60, deadline=None)
def test_the_same_with_parameter_servers(instance):
    check_pools(ran(instance)[0])


def check_pools(market):
    for pool in filter(None, (market.workers, market.servers)):
        assert (pool.used <= pool.capacity + 1e-9).all()
        assert (pool.prices >= pool.bounds.low * (1 - 1e-9)).all()
        assert (pool.prices <= pool.bounds.high * (1 + 1e-9)).all()


@given(instance=instances(most_jobs=25))
@settings(max_examples=100, deadline=None)
def test_an_admitted_plan_does_the_work_within_the_width_and_pays(instance):
    for job, plan in ran(instance)[1]:
        check_plan(job, plan)


@given(instance=instances(sided=True, most_jobs=15))
@settings(max_examples=60, deadline=None)
def test_with_parameter_servers_their_bandwidth_matches_too(instance):
    for job, plan in ran(instance)[1]:
        check_plan(job, plan)
        for slot in np.unique(plan.workers[:, 0]):
            workers = plan.workers[plan.workers[:, 0] == slot, 2].sum()
            servers = plan.side[plan.side[:, 0] == slot, 2].sum()
            assert workers * job.side.each <= servers + 1e-6
            assert servers <= workers


def check_plan(job: Request, plan: Plan):
    by_slot = np.bincount(plan.workers[:, 0], weights=plan.workers[:, 2])
    assert by_slot.sum() >= job.work
    assert by_slot.max() <= job.width
    assert plan.workers[:, 0].min() >= job.start
    assert plan.finish == plan.workers[:, 0].max()
    assert plan.value == job.value[plan.finish - job.start]
    assert plan.payoff > 0.0


@given(instance=instances(most_jobs=6, most_slots=4, most_servers=2))
@settings(max_examples=300, deadline=None)
def test_the_greedy_plan_is_as_good_as_the_best_of_all_plans(instance):
    check_best(*instance)


@given(instance=instances(sided=True, most_jobs=5, most_slots=4, most_servers=2))
@settings(max_examples=150, deadline=None)
def test_so_is_the_plan_with_parameter_servers(instance):
    check_best(*instance)


def check_best(market, jobs):
    for job in jobs:
        expected = best_payoff(market, job)
        plan = market.arrive(job)
        assert (plan.payoff if plan else 0.0) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(instance=instances(most_jobs=8))
@settings(max_examples=100, deadline=None)
def test_a_first_job_that_can_end_within_the_horizon_is_admitted(instance):
    market, jobs = instance
    free = Pool(market.workers.capacity, market.workers.slots, None)
    for job in jobs:
        # The bounds promise it as far as a value at the horizon is not lost in the clamp.
        if job.value[-1] >= 1e-3 * job.value[0]:
            assert (best_plan(market.workers, None, job) is None) == (best_plan(free, None, job) is None)


@given(instance=instances(small=True, most_jobs=25))
@settings(max_examples=80, deadline=None)
def test_each_admission_adds_at_least_its_part_of_the_dual_objective(instance):
    """ΔP ≥ ΔD / α for demands that are small against a server, which is what the guarantee rests on."""
    market, jobs = instance
    pool, alpha = market.workers, max(market.workers.bounds.steepness, 1.0)
    for job in jobs:
        before = pool.prices.copy()
        plan = market.arrive(job)
        if plan is None:
            assert (pool.prices == before).all()
            continue
        dual = plan.payoff + float(((pool.prices - before) * pool.capacity).sum())
        used = max(float((job.demand * job.width / pool.capacity).max()) * alpha, 1e-9)
        discrete = np.expm1(used) / used  # prices rise by steps, not continuously
        assert plan.value * alpha * discrete >= dual * (1 - 1e-9)


@given(instance=instances(most_jobs=10))
@settings(max_examples=60, deadline=None)
def test_what_is_returned_brings_use_and_prices_back(instance):
    market, jobs = instance
    used, prices = market.workers.used.copy(), market.workers.prices.copy()
    for job in jobs:
        plan = market.arrive(job)
        if plan:
            returned = plan.workers * [1, 1, -1]
            market.workers.add(returned, job.demand)
    np.testing.assert_allclose(market.workers.used, used, atol=1e-12)
    np.testing.assert_allclose(market.workers.prices, prices, rtol=1e-6)


def test_prices_keep_room_for_a_job_that_is_worth_more():
    utility = Utility(1.0, 0.0, 0.0)
    slots, one = 4, np.ones(1)
    cheap = [Request(4, 1, one, utility.at(np.arange(slots)), 0) for _ in range(6)]
    dear = Request(4, 1, one, 1000.0 * utility.at(np.arange(slots)), 0)
    market = market_for([*cheap, dear], np.array([[4.0]]), slots)
    admitted = [market.arrive(job) for job in cheap]
    assert 1 <= sum(plan is not None for plan in admitted) <= 3
    assert market.arrive(dear) is not None


def test_an_arrival_is_decided_in_time_with_4000_jobs_on_16000_cores():
    rng = np.random.default_rng(5)
    slots, servers = 300, 500
    jobs = [
        Request(int(rng.integers(50, 2500)), int(rng.integers(5, 100)), np.array([1 / 32, rng.uniform(0.01, 0.05)]),
                Utility(rng.uniform(1, 100), rng.choice([0.0, 0.1, 5.0]), rng.uniform(1, 100)).at(np.arange(slots)))
        for _ in range(4000)
    ]  # fmt: skip
    market = market_for(jobs, np.ones((servers, 2)), slots)
    took = []
    for job in jobs[:150]:
        began = time.perf_counter()
        market.arrive(job)
        took.append(time.perf_counter() - began)
    assert np.median(took) < 0.05


def test_prices_are_exact_where_a_power_would_underflow():
    bounds = Bounds(1e-300, np.array([1e3]))
    pool = Pool(np.array([[1.0]]), 1, bounds)
    pool.add(np.array([[0, 0, 1]]), np.array([0.5]))
    assert pool.prices[0, 0, 0] == pytest.approx(10 ** ((-300 + 3) / 2), rel=1e-6)


def test_without_prices_the_earliest_end_wins():
    pool = Pool(np.array([[2.0]]), 5, None)
    plan = Market(pool).arrive(Request(4, 2, np.ones(1), Utility(1.0, 5.0, 2.0).at(np.arange(5.0))))
    assert plan.finish == 1
    assert plan.cost == 0.0

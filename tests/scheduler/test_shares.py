"""What users are due, together and for each of their jobs."""

import pytest

from slaq.config import UserConfig
from slaq.protocol import Change
from tests.scheduler.support import Bench, job, make_config


def granted(users, capacity=12, policy="fair", **jobs):
    """Cores by user, for jobs of several users: alice=[declaration, …]."""
    bench = Bench(make_config(users=users, capacity=capacity, policy=policy))
    for number, (user, declared) in enumerate(jobs.items()):
        bench.beat(*(job(str(i), **each) for i, each in enumerate(declared)), app=f"app{number:04}", user=user)
    bench.epoch()
    return {
        user: list(bench.grants(app=f"app{number:04}", user=user, jobs=tuple(map(str, range(len(declared))))).values())
        for number, (user, declared) in enumerate(jobs.items())
    }


def test_a_users_weight_multiplies_those_of_their_jobs():
    users = {"alice": UserConfig(weight=2.0)}
    assert granted(users, alice=[{}], bob=[{}]) == {"alice": [8.0], "bob": [4.0]}
    assert granted(users, alice=[{}], bob=[{"weight": 2.0}]) == {"alice": [6.0], "bob": [6.0]}


def test_everyone_without_a_table_has_the_starred_one():
    users = {"*": UserConfig(weight=2.0), "bob": UserConfig()}
    assert granted(users, alice=[{}], bob=[{}]) == {"alice": [8.0], "bob": [4.0]}


def test_a_users_reservation_is_spread_over_their_jobs():
    users = {"alice": UserConfig(reserved_cores=8.0)}
    found = granted(users, policy="fifo", bob=[{}], alice=[{}, {}])
    assert found == {"bob": [4.0], "alice": [4.0, 4.0]}


def test_jobs_that_ask_for_cores_of_the_reservation_come_first():
    users = {"alice": UserConfig(reserved_cores=8.0)}
    found = granted(users, policy="fifo", bob=[{}], alice=[{"reserved_cores": 6.0}, {"reserved_cores": 6.0}])
    assert found == {"bob": [4.0], "alice": [6.0, 2.0]}


def test_without_a_table_a_job_reserves_what_it_asks_for():
    assert granted({}, policy="fifo", bob=[{}], alice=[{"reserved_cores": 5.0}]) == {"bob": [7.0], "alice": [5.0]}


def test_a_user_with_a_table_reserves_no_more_than_that():
    users = {"*": UserConfig()}
    assert granted(users, policy="fifo", bob=[{}], alice=[{"reserved_cores": 5.0}]) == {"bob": [11.0], "alice": [1.0]}


def test_a_users_jobs_together_hold_no_more_than_allowed():
    users = {"alice": UserConfig(max_cores=4.0)}
    assert granted(users, alice=[{}, {}], bob=[{}]) == {"alice": [2.0, 2.0], "bob": [8.0]}


def test_jobs_beyond_the_users_cores_wait_and_say_so():
    users = {"alice": UserConfig(max_cores=2.0)}
    bench = Bench(make_config(users=users, capacity=12))
    bench.beat(job("1"), job("2"), job("3"))
    bench.epoch()
    assert bench.grants(jobs=("1", "2", "3")) == {"1": 1.0, "2": 1.0, "3": 0.0}
    assert "user's other jobs" in bench.scheduler.job("app0001-3").job.reason
    bench.beat(job("1", ended="finished"))
    bench.epoch()
    assert bench.grants(jobs=("2", "3")) == {"2": 1.0, "3": 1.0}


def test_a_held_job_takes_no_part_in_its_users_cores():
    users = {"alice": UserConfig(max_cores=4.0)}
    bench = Bench(make_config(users=users, capacity=12))
    bench.beat(job("1"), job("2"))
    bench.scheduler.change("app0001-1", Change(held=True))
    bench.epoch()
    assert bench.grants(jobs=("1", "2")) == {"1": 0.0, "2": 4.0}
    bench.scheduler.change("app0001-1", Change(held=False))
    bench.epoch()
    assert bench.grants(jobs=("1", "2")) == {"1": 2.0, "2": 2.0}


@pytest.mark.parametrize("weight", [1e-6, 1e6])
def test_weights_stay_within_what_the_core_can_handle(weight):
    users = {"alice": UserConfig(weight=weight)}
    found = granted(users, alice=[{"weight": weight}], bob=[{}])
    assert sum(found["alice"] + found["bob"]) == pytest.approx(12.0)

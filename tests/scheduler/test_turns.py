"""Shares of less than a core, for jobs of several drivers: whole cores in turns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaq.protocol import Declaration
from slaq.scheduler.live import App, LiveJob
from slaq.scheduler.turns import take_turns
from tests.scheduler.support import Bench, again, job


def jobs(*keys: str) -> dict[str, LiveJob]:
    return {key: LiveJob(key, key, App("app0001", "alice"), Declaration(), 0.0, 0.0) for key in keys}


def test_jobs_that_are_due_a_third_have_a_core_every_third_epoch():
    three = jobs("a", "b", "c")
    shares = dict.fromkeys(three, 1 / 3)
    epochs = [take_turns(shares, three) for _ in range(6)]
    assert all(sorted(granted.values()) == pytest.approx([0.0, 0.0, 1.0]) for granted in epochs)
    for key in three:
        assert sum(granted[key] for granted in epochs) == pytest.approx(2.0)


def test_what_does_not_make_a_whole_core_goes_to_the_next_one():
    two = jobs("a", "b")
    assert sorted(take_turns({"a": 0.7, "b": 0.7}, two).values()) == pytest.approx([0.4, 1.0])


def test_whole_cores_and_none_stay_as_they_are():
    four = jobs("a", "b", "c", "d")
    shares = {"a": 2.5, "b": 1.0, "c": 0.0, "d": 0.25}
    assert take_turns(shares, four) == shares


@given(st.lists(st.floats(0.0, 3.0), min_size=1, max_size=12), st.integers(1, 30))
def test_the_sum_is_what_was_decided_and_so_is_everyones_mean(shares, epochs):
    some = jobs(*map(str, range(len(shares))))
    decided = {str(number): share for number, share in enumerate(shares)}
    total = dict.fromkeys(decided, 0.0)
    for _ in range(epochs):
        granted = take_turns(decided, some)
        assert sum(granted.values()) == pytest.approx(sum(shares), abs=1e-4)
        total = {key: total[key] + granted[key] for key in total}
    for key, share in decided.items():
        assert total[key] == pytest.approx(epochs * share, abs=1.0 + 1e-4)


def test_the_scheduler_gives_drivers_whole_cores_and_one_driver_its_fractions():
    alone = Bench()
    alone.beat(*(job(str(number), ml=False) for number in range(12)))
    alone.epoch()
    assert list(alone.grants(jobs=tuple(map(str, range(12)))).values()) == pytest.approx([8 / 12] * 12)
    bench = Bench()
    apps = [f"app{number:04}" for number in range(12)]
    for app in apps:
        bench.beat(job(ml=False), app=app)
    seen = dict.fromkeys(apps, 0.0)
    for _ in range(3):
        bench.epoch()
        granted = {app: bench.beat(again(), app=app).grants["1"] for app in apps}
        assert sorted(granted.values()) == pytest.approx([0.0] * 4 + [1.0] * 8)
        seen = {app: seen[app] + granted[app] for app in apps}
    assert list(seen.values()) == pytest.approx([2.0] * 12)

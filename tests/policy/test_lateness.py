"""Nobody ends later than ten times the time that fair sharing would have taken."""

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaq.model import DEFAULTS, Job, Snapshot
from slaq.policy.lateness import GROWTH, MARKS, Served, overdue


def snap(*jobs, now_s, cores=100, epoch_s=1.0):
    return Snapshot(jobs, cores, None, now_s=now_s, epoch_s=epoch_s)


def after(shares, *, attained=0.0):
    """The cores a job is due whose fair share was `shares`, one a second, and what is remembered of it."""
    memory, job = Served(), Job("a", attained_core_s=attained)
    for now_s, share in enumerate(shares):
        cores, memory = overdue(memory, snap(job, now_s=float(now_s)), np.array([float(share)]))
    return float(cores[0]), memory


def test_a_new_job_is_due_nothing_yet():
    assert after([10])[0] == 0.0


def test_one_that_had_more_than_a_tenth_of_its_fair_shares_is_due_nothing():
    assert after([10] * 100, attained=150.0)[0] == 0.0


def test_what_a_share_was_when_the_cluster_was_empty_is_not_forgotten():
    # 100 cores for 10 s would have ended a job of 1,000 core-seconds; now there are 50 jobs.
    owed, _ = after([100] * 11 + [2] * 70, attained=500.0)
    assert owed > 100 - 1  # at 80 s of age it is due what fair shares had given by 9 s


def test_a_share_that_rises_counts_for_the_whole_age():
    rising = after([1] * 100 + [50])[0]
    assert rising == pytest.approx(min(50 * (100 + DEFAULTS.late_ahead) / DEFAULTS.latest, 100))


def test_nobody_is_due_more_than_they_can_use():
    memory, job = Served(), Job("a", max_cores=3.0)
    for now_s in range(50):
        cores, memory = overdue(memory, snap(job, now_s=float(now_s)), np.array([10.0]))
    assert cores.tolist() == [3.0]


def test_jobs_that_left_are_forgotten_and_others_keep_their_curves():
    first, second = Job("a"), Job("b")
    _, memory = overdue(Served(), snap(first, second, now_s=0.0), np.array([5.0, 5.0]))
    _, memory = overdue(memory, snap(first, second, now_s=10.0), np.array([5.0, 7.0]))
    _, memory = overdue(memory, snap(second, now_s=20.0), np.array([7.0]))
    assert memory.jobs == ("b",)
    assert np.frombuffer(memory.curves).reshape(1, MARKS, 2)[0, -1].tolist() == [
        20.0,
        120.0,
    ]  # 5 cores for 10 s, then 7


def test_the_memory_survives_the_log():
    _, memory = after([10] * 30)
    assert msgspec.convert(msgspec.json.decode(msgspec.json.encode(memory)), Served) == memory


def test_the_marks_reach_back_to_less_than_a_tenth_of_the_age():
    assert GROWTH ** (MARKS - 3) > 10


@settings(max_examples=60)
@given(st.lists(st.floats(0.1, 100), min_size=30, max_size=400))
def test_what_fair_gave_is_known_within_a_few_percent_at_a_tenth_of_the_age(shares):
    _, memory = after(shares)
    marks = np.frombuffer(memory.curves).reshape(1, MARKS, 2)[0]
    ages, given_core_s = np.arange(len(shares)), np.concatenate([[0.0], np.cumsum(shares[:-1])])
    at_s = (len(shares) - 1) / 10
    around = np.interp([at_s / GROWTH - 1, at_s * GROWTH + 1], ages, given_core_s)
    assert around[0] - 1e-6 <= np.interp(at_s, marks[:, 0], marks[:, 1]) <= around[1] + 1e-6
    assert (np.diff(marks, axis=0) >= 0.0).all()


def test_whoever_is_served_as_it_says_ends_by_ten_times_the_time_under_fair():
    """Fair shares fall from 100 cores to 1; jobs of every size get nothing but what is due."""
    for work_core_s in (50.0, 300.0, 900.0, 1100.0):
        memory, attained, given_core_s, fair_s, now_s = Served(), 0.0, 0.0, None, 0.0
        while attained < work_core_s:
            share = 100.0 if now_s < 10.0 else 1.0
            job = Job("a", attained_core_s=attained)
            cores, memory = overdue(memory, snap(job, now_s=now_s), np.array([share]))
            attained += float(cores[0])
            given_core_s += share
            now_s += 1.0
            if fair_s is None and given_core_s >= work_core_s:
                fair_s = now_s
            assert fair_s is None or now_s <= 10.0 * fair_s + 1.0  # whole epochs

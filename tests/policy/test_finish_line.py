"""finish-line: whoever collects the most value of milestones per core goes first."""

import math

import numpy as np
import pytest
from msgspec.structs import replace

from slaq.model import DEFAULTS, History, Job, Report, Snapshot
from slaq.predict import look_ahead
from tests.strategies import decided


class Marks:
    """Jobs past 75 %, some iterations away from 90 %, 95 % and their end; a core makes `pace` of them in an epoch."""

    def __init__(self, *away, pace=None):
        ninety, ninety_five, end = np.array(away, dtype=float).T
        passed = np.zeros(len(away))
        self.away = {0.5: passed, 0.75: passed, 0.9: ninety, 0.95: ninety_five, 0.99: end, 1.0: end}
        self.pace = np.ones(len(away)) if pace is None else np.array(pace)

    def reduction(self, job, cores):
        return np.zeros(len(job)) * cores

    def loss(self, job, cores):
        return np.zeros(len(job)) * cores

    def ahead(self, job, cores):
        return self.pace[job] * cores

    def worked(self, job, cores):
        return self.ahead(job, cores)

    def work_ahead(self, share):
        return (self.until(share) > 0.0).astype(float), self.until(share)

    def reached(self):
        return np.full(len(self.pace), 0.75)

    def until(self, share):
        return self.away[share]


def judged(outlook, cores=20, **declared):
    members = tuple(Job(f"job-{i}", **declared) for i in range(len(outlook.pace)))
    return list(decided("finish-line", Snapshot(members, cores, outlook)).cores.values())


def test_the_job_closest_to_90_percent_goes_first():
    assert judged(Marks((30, 60, 100), (20, 60, 100))) == [1.0, 19.0]


def test_it_gets_no_more_for_a_milestone_than_it_takes_to_reach_it():
    assert judged(Marks((30, 60, 100), (5, 60, 100))) == [15.0, 5.0]


def test_quality_comes_before_an_end_that_is_as_far_away():
    assert judged(Marks((30, 60, 100), (0, 0, 30))) == [19.0, 1.0]


def test_a_job_that_is_about_to_end_is_let_through():
    assert judged(Marks((60, 90, 100), (0, 0, 3))) == [17.0, 3.0]


def test_the_work_of_an_iteration_counts_not_only_their_number():
    assert judged(Marks((15, 20, 40), (15, 20, 40), pace=[1.0, 0.5])) == [19.0, 1.0]


def test_a_weight_multiplies_the_value():
    outlook = Marks((20, 60, 100), (30, 60, 100))
    members = (Job("a"), Job("b", weight=3.0))
    cores = decided("finish-line", Snapshot(members, 12, outlook)).cores
    assert cores["b"] > cores["a"]
    assert cores["a"] == 1.0


def test_a_milestone_counts_by_the_chance_that_it_is_still_ahead():
    class Doubtful(Marks):
        def work_ahead(self, share):
            chance, work = super().work_ahead(share)
            return chance * np.array([1.0, 0.5]), work

    assert judged(Doubtful((30, 60, 100), (20, 60, 100))) == [19.0, 1.0]
    assert judged(Doubtful((30, 60, 100), (10, 60, 100))) == [10.0, 10.0]


def grouped(outlook, groups, cores=20):
    members = tuple(Job(f"job-{i}", group=group) for i, group in enumerate(groups))
    return list(decided("finish-line", Snapshot(members, cores, outlook)).cores.values())


def test_of_a_group_the_job_with_the_most_work_left_goes_first():
    one, two, three = grouped(Marks((5, 6, 30), (5, 6, 50), (5, 6, 40)), ["g", "g", "g"])
    assert two > 19
    assert one < three + 1e-9 < 1


def test_a_group_competes_with_all_its_work_for_the_value_of_one_job():
    quick, *search = grouped(Marks((20, 30, 60), (5, 6, 15), (5, 6, 15), (5, 6, 15), (5, 6, 15)), ["", *"gggg"])
    assert quick > 18.9  # 1 for 20 beats 2.4 for 60
    assert sum(search) == pytest.approx(20 - quick)
    quick, *search = grouped(Marks((40, 50, 60), (5, 6, 15), (5, 6, 15)), ["", *"gg"])
    assert sum(search) > 18.9  # 2.4 for 30 beats 1 for 40


def test_a_job_that_breaks_gets_nothing_for_being_near_its_end():
    def job(name, losses):
        history = History()
        for loss in losses:
            history = history.add(Report(loss, work_core_s=1.0))
        return Job(name, history=history, max_iterations=100)

    healthy = [1.0 / (k + 1) for k in range(7)]
    members = (job("a", healthy), job("b", healthy), job("broken", [*healthy, 0.1, 0.1, 0.1, math.nan]))
    cores = decided("finish-line", Snapshot(members, 20, look_ahead(members, 1.0))).cores
    assert cores["broken"] < 1.5


def test_a_job_that_was_kept_down_for_long_catches_up():
    outlook = Marks((300, 600, 1000), (20, 60, 100))
    due = 10 * (50 + DEFAULTS.late_ahead) / DEFAULTS.latest  # of a fair share of ten cores
    members = (Job("a", attained_core_s=due - 4.0), Job("b", attained_core_s=1000.0))
    cores = decided("finish-line", Snapshot(members, 20, outlook, now_s=50.0)).cores
    assert cores == pytest.approx({"a": 4.0, "b": 16.0})
    served = (replace(members[0], attained_core_s=due), members[1])
    assert decided("finish-line", Snapshot(served, 20, outlook, now_s=50.0)).cores == {"a": 1.0, "b": 19.0}

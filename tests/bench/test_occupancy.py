"""What the applications benchmark makes of Spark's event logs."""

import json

import pytest

from slaq.bench._occupancy import occupancy
from slaq.errors import SlaqError


def log(folder, name, stages, tasks):
    """An event log: stages as (seconds, tasks), tasks as (launch, finish)."""
    events = [{"Event": "SparkListenerLogStart"}]
    for at, count in stages:
        events.append(
            {
                "Event": "SparkListenerStageSubmitted",
                "Stage Info": {"Submission Time": at * 1e3, "Number of Tasks": count},
            }
        )
    for launch, finish in tasks:
        events.append({"Event": "SparkListenerTaskStart", "Task Info": {"Launch Time": launch * 1e3}})
        events.append(
            {"Event": "SparkListenerTaskEnd", "Task Info": {"Launch Time": launch * 1e3, "Finish Time": finish * 1e3}}
        )
    file = folder / name
    file.write_text("\n".join(json.dumps(event) for event in events))
    return file


@pytest.fixture
def two(tmp_path):
    """Two applications; from second 4 to 7 one task runs while another waits, from 2 to 4 three run."""
    one = log(tmp_path, "one", [(0, 3)], [(0, 4), (2, 4), (7, 10)])
    other = log(tmp_path, "other", [(0, 2)], [(1, 7), (8, 10)])
    return occupancy([one, other]).between(0.0, 10.0)


def test_the_tasks_of_all_applications_are_counted_together(two):
    assert two.most() == 3.0
    assert two.mean() == pytest.approx((4 + 2 + 3 + 6 + 2) / 10)
    assert two.percentile(0.5) == 1.0
    assert two.percentile(0.99) == 3.0


def test_a_surplus_is_what_a_window_holds_above_the_cores(two):
    assert two.surplus_s(2.0) == pytest.approx(2.0)
    assert two.surplus_s(3.0) == 0.0


def test_a_core_idles_only_while_a_task_waits(two):
    assert two.longest_idle_s(2.0) == pytest.approx(4.0), "from 4 to 8: one runs, one waits"
    assert two.longest_idle_s(1.0) == 0.0
    assert two.idle_share(2.0) == pytest.approx((1 + 4) / 20)


def test_a_window_beyond_the_logs_is_refused(tmp_path):
    file = log(tmp_path, "one", [(0, 1)], [(0, 4)])
    with pytest.raises(SlaqError, match="--seconds"):
        occupancy([file]).between(0.0, 5.0)
    with pytest.raises(SlaqError, match="no task"):
        occupancy([])

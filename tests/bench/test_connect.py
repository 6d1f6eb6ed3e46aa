"""What the Connect benchmark makes of Spark's event log."""

import json

import pytest

from slaq.bench._connect_log import used
from slaq.bench.connect import Shared, rows_of

UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"


def tag(user: str) -> dict[str, str]:
    own = f"SparkConnect_OperationTag_User_{user}_Session_{UUID}_Operation_{UUID}"
    return {"spark.job.tags": f"SparkConnect_Session_{UUID},{own}"}


def line(event: str, **rest: object) -> str:
    return json.dumps({"Event": f"SparkListener{event}", **rest}, separators=(",", ":"))


def job(number: int, user: str, began: float, ended: float) -> list[str]:
    """A job of one stage with one task, which uses half of its time."""
    task = {"Launch Time": began * 1e3, "Finish Time": ended * 1e3}
    return [
        line("JobStart", **{"Job ID": number, "Submission Time": began * 1e3, "Properties": tag(user)}),
        line("StageSubmitted", **{"Stage Info": {"Stage ID": number}, "Properties": tag(user)}),
        line(
            "TaskEnd",
            **{
                "Stage ID": number,
                "Task Info": task,
                "Task Metrics": {"Executor CPU Time": (ended - began) * 5e8},
            },
        ),
        line("JobEnd", **{"Job ID": number, "Completion Time": ended * 1e3}),
    ]


def test_jobs_and_tasks_belong_to_the_user_in_the_tag():
    found = used([*job(0, "ann_b", 10.0, 12.0), *job(1, "ben", 10.0, 14.0), line("JobStart", **{"Job ID": 2})[:9]])
    assert found["ann_b"].jobs == [(10.0, 12.0)]
    assert found["ben"].cpu_s(0.0, 99.0) == pytest.approx(2.0)
    assert found["ben"].held_s(11.0, 12.0) == pytest.approx(1.0), "in proportion"
    assert found["ben"].cpu_s(11.0, 12.0) == pytest.approx(0.5)
    assert found["ben"].cpu_s(14.0, 20.0) == 0.0


def test_the_bars_are_judged():
    good = Shared(5.0, 9, {"ann": 10.2, "ben": 9.8}, {"ann": 10.0, "ben": 10.0}, 0.47, 0.5)
    plain = Shared(50.0, 9, {"ann": 1.0, "ben": 19.0}, {"ann": 1.0, "ben": 19.0}, None, None)
    rows = rows_of(good, plain, cores=2)
    assert [row["ok"] for row in rows] == ["yes", "", "yes", "", "yes"]
    assert rows[0]["FAIR"] == pytest.approx(0.05)
    bad = Shared(30.0, 9, {"ann": 11.0, "ben": 9.0}, {"ann": 10.0, "ben": 10.0}, 0.4, 0.5)
    assert [row["ok"] for row in rows_of(bad, plain, cores=2)] == ["no", "", "no", "", "no"]

"""Stages and tasks out of an event log."""

import json

from slaq.workload.event_log import LABEL, stages_of


def _line(**event: object) -> str:
    return json.dumps(event, separators=(",", ":"))


def _submitted(stage: int, at_ms: int, job: str | None) -> str:
    properties = {"spark.scheduler.pool": "p"} | ({} if job is None else {LABEL: job})
    info = {"Stage ID": stage, "Stage Attempt ID": 0, "Submission Time": at_ms}
    return _line(Event="SparkListenerStageSubmitted", **{"Stage Info": info, "Properties": properties})


def _task(stage: int, launched_ms: int, finished_ms: int) -> str:
    info = {"Launch Time": launched_ms, "Finish Time": finished_ms}
    return _line(Event="SparkListenerTaskEnd", **{"Stage ID": stage, "Stage Attempt ID": 0, "Task Info": info})


def test_stages_of_labelled_jobs_are_told_with_their_tasks_in_order_of_launch() -> None:
    lines = [
        _line(Event="SparkListenerLogStart"),
        _submitted(1, 9_000, "warm-up"),
        _submitted(3, 10_500, "b"),
        _submitted(2, 10_100, "a"),
        _submitted(4, 10_600, None),
        _task(2, 10_300, 10_400),
        _task(2, 10_200, 10_450),
        _task(3, 10_700, 10_800),
        _task(4, 10_700, 10_800),
    ]
    found = stages_of(lines, 10.0)
    assert [(stage.job, stage.submitted_s) for stage in found] == [("a", 0.1), ("b", 0.5)]
    assert found[0].launched_s == (0.2, 0.3)
    assert found[0].finished_s == (0.45, 0.4)

"""What the tasks of a stream did, from Spark's own event log: the same source under every policy."""

import json
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slaq.workload.results import Stage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LABEL = "slaq.workload.job"
"""The local property that names the job of a thread; Spark hands it on to every stage, whatever its pool."""

FLUSHED_MS = 10_000

_WANTED = tuple(f'{{"Event":"SparkListener{name}"' for name in ("StageSubmitted", "TaskEnd"))


@contextmanager
def event_log() -> Iterator[dict[str, str]]:
    """Settings of a session that keeps an event log in a folder of its own, which goes with the context."""
    with tempfile.TemporaryDirectory(prefix="slaq-events-") as folder:
        yield {
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": Path(folder).as_uri(),
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
        }


def recorded_stages(spark: "SparkSession", began: float) -> tuple[Stage, ...]:
    """The labelled stages that this session has run since `began`; none if it keeps no event log."""
    conf = spark.sparkContext.getConf()
    if conf.get("spark.eventLog.enabled", "false") != "true":
        return ()
    # Spark flushes the log at the end of every job, once its listeners have heard of it.
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(FLUSHED_MS)
    folder = Path((conf.get("spark.eventLog.dir") or "").removeprefix("file://"))
    (log,) = folder.glob(f"{spark.sparkContext.applicationId}*")
    with log.open(encoding="utf-8") as lines:
        return stages_of(lines, began)


def stages_of(lines: Iterable[str], began: float) -> tuple[Stage, ...]:
    """The labelled stages in an event log, in the order in which they were submitted; times are seconds since `began`.

    A task that failed is one more task: its slot was held.
    """
    submitted: dict[tuple[int, int], tuple[str, float]] = {}
    tasks: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for line in lines:
        if not line.startswith(_WANTED):
            continue
        event = json.loads(line)
        if event["Event"] == "SparkListenerTaskEnd":
            stage, task = (event["Stage ID"], event["Stage Attempt ID"]), event["Task Info"]
            if stage in submitted:
                tasks[stage].append((_seconds(task["Launch Time"], began), _seconds(task["Finish Time"], began)))
            continue
        info = event["Stage Info"]
        job, at_s = (event.get("Properties") or {}).get(LABEL), _seconds(_submission(info), began)
        if job is not None and at_s >= 0.0:
            stage = (info["Stage ID"], info["Stage Attempt ID"])
            submitted[stage], tasks[stage] = (job, at_s), []
    found = [
        Stage(job, at_s, tuple(launched for launched, _ in ran), tuple(finished for _, finished in ran))
        for stage, (job, at_s) in submitted.items()
        if (ran := sorted(tasks[stage]))
    ]
    return tuple(sorted(found, key=lambda stage: stage.submitted_s))


def _submission(info: dict[str, Any]) -> int:
    return int(info["Submission Time"])


def _seconds(instant_ms: int, began: float) -> float:
    """Seconds since `began`; the log knows milliseconds."""
    return round(instant_ms / 1e3 - began, 3)

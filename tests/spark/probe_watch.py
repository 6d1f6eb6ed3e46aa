"""What the probe saw while a test trained something: jobs, their curves, how they ended."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession


@dataclass
class Job:
    """One fit, as its events tell it."""

    begin: dict[str, Any]
    losses: list[float] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    end: dict[str, Any] | None = None

    @property
    def estimator(self) -> str:
        return str(self.begin["estimator"])

    @property
    def name(self) -> str:
        (name,) = self.names
        return name

    def falls(self) -> bool:
        """Whether no value is above the one before it."""
        return all(later <= earlier for earlier, later in zip(self.losses, self.losses[1:], strict=False))


class Watch:
    """The fits of one `watch` block, by the order in which they began."""

    def __init__(self) -> None:
        self.fits: list[Job] = []

    @property
    def jobs(self) -> list[Job]:
        return [fit for fit in self.fits if not fit.begin["wrapper"]]

    def only(self) -> Job:
        """The one job there was, which must have come to a good end."""
        (job,) = self.jobs
        assert job.end is not None
        assert job.end["ok"], job.end
        return job


@contextmanager
def watch(spark: SparkSession) -> Iterator[Watch]:
    """Collect the probe's events of a block."""
    drain(spark)
    seen = Watch()
    yield seen
    by_name: dict[str, Job] = {}
    for event in drain(spark):
        if event["event"] == "begin":
            by_name[event["job"]] = Job(event)
        elif event["event"] == "loss":
            job = by_name[event["job"]]
            assert event["iteration"] == len(job.losses)
            job.losses.append(event["value"])
            job.names.add(event["name"])
        else:
            by_name[event["job"]].end = event
    seen.fits = list(by_name.values())


def drain(spark: SparkSession) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = json.loads(spark._jvm.io.slaq.probe.Events.drain(1_000_000))
    return events


def health(spark: SparkSession) -> dict[str, Any]:
    """The probe's own counters."""
    counters: dict[str, Any] = json.loads(spark._jvm.io.slaq.probe.Health.report())
    return counters

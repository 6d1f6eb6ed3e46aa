"""How many tasks ran and waited at every moment, for several applications together, from Spark's own event logs."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from slaq.errors import SlaqError
from slaq.model import FloatArray
from slaq.workload.results import Stage

Change = tuple[float, int, int]
"""When, and by how many, the numbers of running and of waiting tasks change."""


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Tasks that run and tasks that wait between consecutive moments; the last moment ends the last stretch."""

    at: FloatArray
    running: FloatArray
    waiting: FloatArray

    def between(self, start: float, end: float) -> "Occupancy":
        """The same, for a window."""
        first = int(np.searchsorted(self.at, start, side="right")) - 1
        last = int(np.searchsorted(self.at, end))
        if first < 0 or last >= len(self.at):
            raise SlaqError("the applications did not work for as long as is to be measured; give more --seconds")
        at = np.clip(self.at[first : last + 1], start, end)
        return Occupancy(at, self.running[first:last], self.waiting[first:last])

    @property
    def seconds(self) -> FloatArray:
        """The length of each stretch."""
        return np.diff(self.at)

    def mean(self) -> float:
        """Tasks that ran, on average."""
        return float(np.average(self.running, weights=self.seconds))

    def percentile(self, share: float) -> float:
        """At most so many tasks ran for this share of the time."""
        order = np.argsort(self.running)
        reached = np.cumsum(self.seconds[order]) >= share * self.seconds.sum() - 1e-9
        return float(self.running[order][int(np.argmax(reached))])

    def most(self) -> float:
        """The largest number of tasks that ran at once."""
        return float(self.running[self.seconds > 0].max())

    def surplus_s(self, cores: float) -> float:
        """Core-seconds held beyond what the cores yield, in the window where that is most."""
        total = np.concatenate([[0.0], np.cumsum((self.running - cores) * self.seconds)])
        return float((total - np.minimum.accumulate(total)).max())

    def longest_idle_s(self, cores: float) -> float:
        """The longest stretch in which fewer tasks ran than there are cores although some waited."""
        longest = stretch = 0.0
        idle = (self.running < cores) & (self.waiting > 0)
        for is_idle, length in zip(idle.tolist(), self.seconds.tolist(), strict=True):
            stretch = stretch + length if is_idle else 0.0
            longest = max(longest, stretch)
        return longest

    def idle_share(self, cores: float) -> float:
        """The share of the cores' time that was not used although tasks waited."""
        unused = np.maximum(cores - self.running, 0.0) * (self.waiting > 0) * self.seconds
        return float(unused.sum() / (cores * self.seconds.sum()))


def occupancy(logs: Iterable[Path]) -> Occupancy:
    """All applications' tasks by the event logs of their drivers, whose clocks are one."""
    changes: list[Change] = []
    for log in logs:
        for line in log.read_text("utf-8").splitlines():
            changes += _changes(json.loads(line))
    if not changes:
        raise SlaqError("the applications' event logs hold no task")
    return _occupancy(changes)


def occupancy_of(stages: Iterable[Stage]) -> Occupancy:
    """The tasks of recorded stages."""
    changes: list[Change] = []
    for stage in stages:
        changes.append((stage.submitted_s, 0, len(stage.launched_s)))
        changes += [(at_s, 1, -1) for at_s in stage.launched_s]
        changes += [(at_s, -1, 0) for at_s in stage.finished_s]
    if not changes:
        raise SlaqError("no stage was recorded")
    return _occupancy(changes)


def _occupancy(changes: Sequence[Change]) -> Occupancy:
    table = np.array(sorted(changes))
    at, first = np.unique(table[:, 0], return_index=True)
    sums = np.add.reduceat(table[:, 1:], first).cumsum(axis=0)
    return Occupancy(at, sums[:-1, 0], sums[:-1, 1])


def _changes(event: dict[str, Any]) -> list[Change]:
    """When, and by how many, the numbers of running and waiting tasks change."""
    match event["Event"]:
        case "SparkListenerStageSubmitted":
            stage = event["Stage Info"]
            return [(stage["Submission Time"] / 1e3, 0, stage["Number of Tasks"])]
        case "SparkListenerTaskStart":
            return [(event["Task Info"]["Launch Time"] / 1e3, 1, -1)]
        case "SparkListenerTaskEnd":
            return [(event["Task Info"]["Finish Time"] / 1e3, -1, 0)]
        case _:
            return []

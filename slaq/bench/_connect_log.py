"""What the users of a Connect server got, by Spark's own event log: the same source with SLAQ and without."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

TAG = re.compile(r"SparkConnect_OperationTag_User_(.+)_Session_[0-9a-f-]{36}_Operation_[0-9a-f-]{36}$")
WANTED = tuple(f'{{"Event":"SparkListener{name}"' for name in ("JobStart", "JobEnd", "StageSubmitted", "TaskEnd"))


@dataclass
class Used:
    """What one user did; instants are seconds since 1970."""

    jobs: list[tuple[float, float]] = field(default_factory=list)
    """Begin and end of each Spark job, in the order in which they ended."""
    tasks: list[tuple[float, float, float]] = field(default_factory=list)
    """(launched, finished, CPU seconds) of each task."""

    def cpu_s(self, start: float, end: float) -> float:
        """CPU seconds in a window; those of a task that crosses its border count in proportion."""
        return sum(cpu * _overlap(began, ended, start, end) for began, ended, cpu in self.tasks)

    def held_s(self, start: float, end: float) -> float:
        """Core-seconds that tasks held in a window."""
        return sum((ended - began) * _overlap(began, ended, start, end) for began, ended, _ in self.tasks)


def _overlap(began: float, ended: float, start: float, end: float) -> float:
    inside = min(ended, end) - max(began, start)
    return max(inside, 0.0) / (ended - began) if ended > began else float(start <= began < end)


def used(lines: Iterable[str]) -> dict[str, Used]:
    """By user."""
    found: dict[str, Used] = {}
    owner: dict[int, str] = {}
    began: dict[int, tuple[str, float]] = {}
    for line in lines:
        if not line.startswith(WANTED):
            continue
        event = json.loads(line)
        match event["Event"]:
            case "SparkListenerJobStart":
                began[event["Job ID"]] = (user_of(event.get("Properties") or {}), event["Submission Time"] / 1e3)
            case "SparkListenerJobEnd" if event["Job ID"] in began:
                user, at_s = began.pop(event["Job ID"])
                found.setdefault(user, Used()).jobs.append((at_s, event["Completion Time"] / 1e3))
            case "SparkListenerStageSubmitted":
                owner[event["Stage Info"]["Stage ID"]] = user_of(event.get("Properties") or {})
            case "SparkListenerTaskEnd":
                info, metrics = event["Task Info"], event.get("Task Metrics") or {}
                cpu_s = metrics.get("Executor CPU Time", 0) / 1e9
                found.setdefault(owner.get(event["Stage ID"], ""), Used()).tasks.append(
                    (info["Launch Time"] / 1e3, info["Finish Time"] / 1e3, cpu_s)
                )
    return found


def user_of(properties: Mapping[str, Any]) -> str:
    """The user in the server's tag of an operation; empty if there is none."""
    tags = (TAG.match(tag) for tag in str(properties.get("spark.job.tags", "")).split(","))
    return next((tag[1] for tag in tags if tag), "")

"""What became of the job that stood first: did it run, did its driver pause, or did it wait for a slot?

Under SLAQ first is whoever is granted the most cores, under Spark's FAIR whose pool is first by name. The times are
those of the event log.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from msgspec import Struct

from slaq.workload.results import Sample, Stage, StreamRun


class First(Struct, frozen=True):
    """Shares of the time in which some job stood first."""

    runs: float
    pauses: float
    waits: float

    def __str__(self) -> str:
        return f"runs {self.runs:.0%}, pauses {self.pauses:.0%}, waits {self.waits:.0%}"


def first_job(runs: Sequence[StreamRun]) -> First | None:
    """All runs of one policy together; None if nothing was recorded."""
    spent = dict.fromkeys(("runs", "pauses", "waits"), 0.0)
    for run in runs:
        states = {job.name: _states([stage for stage in run.stages if stage.job == job.name]) for job in run.jobs}
        for begin_s, end_s, name in _firsts(run):
            if states.get(name):
                _add(spent, states[name], begin_s, end_s)
    whole = sum(spent.values())
    return First(*(seconds / whole for seconds in spent.values())) if whole else None


def _firsts(run: StreamRun) -> Iterator[tuple[float, float, str]]:
    """(from, until, job): who stood first."""
    if run.samples:
        yield from _most_granted(run.samples)
        return
    if not run.policy.endswith("fair"):
        return
    moments = sorted({at_s for job in run.jobs for at_s in (job.arrived_s, job.ended_s)})
    for begin_s, end_s in pairwise(moments):
        alive = [job for job in run.jobs if job.arrived_s <= begin_s and job.ended_s >= end_s]
        if alive:
            yield begin_s, end_s, min(alive, key=lambda job: job.pool).name


def _most_granted(samples: Sequence[Sample]) -> Iterator[tuple[float, float, str]]:
    polls: dict[float, list[Sample]] = {}
    for sample in samples:
        polls.setdefault(sample.at_s, []).append(sample)
    for begin_s, end_s in pairwise(polls):
        granted = [sample for sample in polls[begin_s] if sample.cores]
        if granted:
            yield begin_s, end_s, max(granted, key=lambda sample: sample.cores or 0.0).job


def _states(stages: Sequence[Stage]) -> list[tuple[float, str]]:
    """(from, state) of one job, from its first stage on."""
    changes = sorted(
        change
        for stage in stages
        for change in (
            (stage.submitted_s, 0, len(stage.launched_s)),
            *((at_s, 1, -1) for at_s in stage.launched_s),
            *((at_s, -1, 0) for at_s in stage.finished_s),
        )
    )
    if not changes:
        return []
    table = np.array(changes)
    running, waiting = table[:, 1].cumsum(), table[:, 2].cumsum()
    return [
        (at_s, "runs" if busy > 0 else "waits" if due > 0 else "pauses")
        for at_s, busy, due in zip(table[:, 0].tolist(), running.tolist(), waiting.tolist(), strict=True)
    ]


def _add(spent: dict[str, float], states: Sequence[tuple[float, str]], begin_s: float, end_s: float) -> None:
    """Add the seconds that a job was in each state between two moments."""
    at = max(bisect_right(states, (begin_s, "~")) - 1, 0)
    for place in range(at, len(states)):
        since_s, state = states[place]
        until_s = states[place + 1][0] if place + 1 < len(states) else end_s
        if since_s >= end_s:
            return
        spent[state] += max(min(until_s, end_s) - max(since_s, begin_s), 0.0)

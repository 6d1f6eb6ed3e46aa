"""What the comparison is about: how soon jobs are good, how bad they are on average, and what it cost."""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean

import numpy as np

from slaq.predict import forecast
from slaq.workload.results import Sample, StreamRun, Trained

AHEAD = (1, 5, 10)
"""Iterations ahead at which forecasts are judged."""

WINDOW_S = 2.0
"""A share is judged over windows at least this long."""


def time_to(job: Trained, share: float) -> float:
    """Seconds from arrival until this share of the job's own loss reduction; its whole time if it never fell."""
    if not job.losses or not job.losses[0] > job.losses[-1]:
        return job.ended_s - job.arrived_s
    goal = job.losses[0] - share * (job.losses[0] - job.losses[-1])
    # The last loss may miss its own goal by a rounding error.
    reached = (at for at, loss in zip(job.times_s, job.losses, strict=True) if loss <= goal)
    return next(reached, job.times_s[-1]) - job.arrived_s


def mean_time_to(run: StreamRun, share: float) -> float:
    """The average of `time_to` over all jobs."""
    return fmean(time_to(job, share) for job in run.jobs)


def mean_completion(run: StreamRun) -> float:
    """Seconds from arrival to end, on average."""
    return fmean(job.ended_s - job.arrived_s for job in run.jobs)


def normalised_loss(job: Trained, at_s: float) -> float:
    """1 from arrival to the first loss, 0 at the last."""
    if not job.losses or at_s >= job.ended_s:
        return 0.0
    fall = job.losses[0] - job.losses[-1]
    known = int(np.searchsorted(job.times_s, at_s, side="right"))
    return min(max((job.losses[known - 1] - job.losses[-1]) / fall, 0.0), 1.0) if known and fall > 0 else 1.0


def loss_over_time(run: StreamRun, until_s: float, points: int = 200) -> tuple[list[float], list[float]]:
    """Average normalised loss of the jobs that have arrived; one that ended still counts, as 0."""
    grid = [until_s * i / (points - 1) for i in range(points)]
    means = []
    for at_s in grid:
        arrived = [normalised_loss(job, at_s) for job in run.jobs if job.arrived_s <= at_s]
        means.append(fmean(arrived) if arrived else 0.0)
    return grid, means


def cores_held(run: StreamRun, until_s: float, points: int = 300) -> list[tuple[float, dict[str, float]]]:
    """The cores that tasks of each job held, averaged from each moment to the next; empty without recorded stages."""
    if not run.stages:
        return []
    step_s = until_s / points
    held: list[dict[str, float]] = [{} for _ in range(points)]
    for stage in run.stages:
        for launched_s, finished_s in zip(stage.launched_s, stage.finished_s, strict=True):
            first, last = max(int(launched_s / step_s), 0), min(int(finished_s / step_s), points - 1)
            for place in range(first, last + 1):
                inside_s = min(finished_s, (place + 1) * step_s) - max(launched_s, place * step_s)
                held[place][stage.job] = held[place].get(stage.job, 0.0) + max(inside_s, 0.0) / step_s
    return [(place * step_s, each) for place, each in enumerate(held)]


def mean_loss(run: StreamRun, until_s: float) -> float:
    """The average of `loss_over_time` from the first arrival to `until_s`."""
    return fmean(loss_over_time(run, until_s)[1])


def idle_core_s(run: StreamRun) -> float:
    """Core-seconds in which no task ran."""
    return max(run.cores * run.makespan_s - run.held_core_s, 0.0)


def foreign_cpu_s(run: StreamRun) -> float | None:
    """CPU seconds that went to other programs meanwhile; None if not known."""
    if run.machine_cpu_s is None or run.cpu_s is None:
        return None
    return max(run.machine_cpu_s - run.cpu_s - run.driver_cpu_s, 0.0)


def forecast_error(run: StreamRun) -> float | None:
    """Mean error of the forecasts 1, 5 and 10 iterations ahead that these losses allowed, as a share of the job's fall.

    They are made after the run, from what was known at each iteration, by the function that decides.
    """
    errors = []
    for job in run.jobs:
        fall = job.losses[0] - job.losses[-1] if job.losses else 0.0
        known = range(3, len(job.losses))
        if fall <= 0 or not known:
            continue
        ahead = forecast([job.losses[:k] for k in known], AHEAD)
        for row, k in enumerate(known):
            errors += [
                abs(float(ahead[row, column]) - job.losses[k - 1 + steps]) / fall
                for column, steps in enumerate(AHEAD)
                if k - 1 + steps < len(job.losses)
            ]
    return fmean(errors) if errors else None


def share_error(samples: Sequence[Sample]) -> float | None:
    """Mean difference of cores held on a grant and cores granted, over windows in which the job had tasks waiting.

    What it borrowed from idle slots is not charged to it and does not count.
    """
    errors = []
    by_job: dict[str, list[Sample]] = {}
    for sample in samples:
        by_job.setdefault(sample.job, []).append(sample)
    for series in by_job.values():
        start = series[0]
        granted = demand = 0.0
        for before, after in pairwise(series):
            if before.cores is None:
                start, granted, demand = after, 0.0, 0.0
                continue
            dt = after.at_s - before.at_s
            granted += before.cores * dt
            demand += dt if before.pending else 0.0
            if (span := after.at_s - start.at_s) >= WINDOW_S:
                held = (after.held_core_s - after.borrowed_core_s) - (start.held_core_s - start.borrowed_core_s)
                if demand > 0.5 * span:
                    errors.append(abs(held - granted) / span)
                start, granted, demand = after, 0.0, 0.0
    return fmean(errors) if errors else None


def model_difference(one: StreamRun, other: StreamRun) -> float:
    """The largest relative difference between the models of the same jobs in two runs; inf if one is missing or
    holds a NaN."""
    worst = 0.0
    for mine, theirs in zip(one.jobs, other.jobs, strict=True):
        if not mine.model or len(mine.model) != len(theirs.model):
            return math.inf
        a, b = np.array(mine.model), np.array(theirs.model)
        worst = max(worst, _or_inf(float(np.abs(a - b).max() / max(np.abs(a).max(), 1e-300))))
    return worst


def final_loss_difference(one: StreamRun, other: StreamRun) -> float:
    """The same for the last losses, relative to each job's fall."""
    worst = 0.0
    for mine, theirs in zip(one.jobs, other.jobs, strict=True):
        if not mine.losses or not theirs.losses:
            return math.inf
        fall = abs(mine.losses[0] - mine.losses[-1]) or 1.0
        worst = max(worst, _or_inf(abs(mine.losses[-1] - theirs.losses[-1]) / fall))
    return worst


def _or_inf(difference: float) -> float:
    return math.inf if math.isnan(difference) else difference

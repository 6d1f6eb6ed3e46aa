"""The comparison as one HTML file that needs nothing else: numbers, and the charts of the scheduler's page."""

from collections.abc import Sequence
from importlib.resources import files

from slaq.scheduler.page.one_file import one_file
from slaq.workload.measures import (
    cores_held,
    loss_over_time,
    mean_completion,
    mean_time_to,
    normalised_loss,
    time_to,
)
from slaq.workload.results import StreamRun, Trained

POINTS = 300
"""Of every curve over time."""


def page(runs: Sequence[StreamRun], title: str, facts: Sequence[str]) -> str:
    """One page about runs of the same stream, one per policy."""
    until_s = max(run.makespan_s for run in runs)
    grid = loss_over_time(runs[0], until_s, POINTS)[0]
    data = {
        "title": title,
        "facts": list(facts),
        "until_s": until_s,
        "grid": grid,
        "runs": [
            {
                "policy": run.policy,
                "times": [mean_time_to(run, 0.9), mean_time_to(run, 0.95), mean_completion(run), run.makespan_s],
                "loss": loss_over_time(run, until_s, POINTS)[1],
                "cores": _cores(run, until_s),
            }
            for run in runs
        ],
        "jobs": [
            {
                "name": job.name,
                "to_90": [time_to(run.jobs[number], 0.9) for run in runs],
                "curves": [_curve(run.jobs[number]) for run in runs],
            }
            for number, job in enumerate(runs[0].jobs)
        ],
    }
    return one_file(title, files("slaq.workload") / "page.js", data)


def _cores(run: StreamRun, until_s: float) -> list[object]:
    """The cores that tasks of each job held, in the form in which the page's charts take samples."""
    held = cores_held(run, until_s, POINTS)
    return [
        [at_s, run.cores, sum(each.values()), 0, None, [[name, name, round(cores, 3)] for name, cores in each.items()]]
        for at_s, each in held
    ]


def _curve(job: Trained) -> tuple[list[float], list[float]]:
    """When each loss was known, from the job's arrival, and how much of its loss was left."""
    times = list(dict.fromkeys(max(at_s, job.arrived_s) for at_s in job.times_s)) or [job.ended_s]
    return [at_s - job.arrived_s for at_s in times], [normalised_loss(job, at_s) for at_s in times]

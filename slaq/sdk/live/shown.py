"""What the widget is told of the jobs: a bounded amount, whatever their number and the length of their curves."""

from collections.abc import Sequence
from typing import Any

from slaq.driver.grouping import sections
from slaq.driver.status import JobStatus
from slaq.protocol.names import printable

JOBS = 60
"""Shown at once: those that run, and those that ended last."""

POINTS = 120
"""Of a curve."""

LONGEST_LABEL = 200


def shown(jobs: Sequence[JobStatus]) -> dict[str, Any]:
    """The jobs by group, as the widget's script reads them, and how many there are."""
    running = [job.id for job in jobs if job.state == "running"]
    ended = [job.id for job in jobs if job.state != "running"]
    kept = {*running[:JOBS], *(ended[-(JOBS - len(running)) :] if len(running) < JOBS else ())}
    groups = [
        {"heading": _text(heading), "jobs": [_row(job, label) for label, job in members]}
        for heading, members in sections([job for job in jobs if job.id in kept])
    ]
    return {"running": len(running), "ended": len(ended), "groups": groups}


def _row(job: JobStatus, label: str) -> dict[str, Any]:
    return {
        "id": job.id,
        "label": _text(label),
        "name": _text(job.name),
        "state": job.state,
        "iteration": job.iteration,
        "loss": job.loss,
        "first_loss": job.losses[0] if job.losses else None,
        "cores": job.cores,
        "tasks": job.running_tasks,
        "reached": job.reached,
        "to_90": job.iterations_to_90,
        "to_95": job.iterations_to_95,
        "seconds_to_95": job.seconds_to_95,
        "curve": curve(job),
    }


def curve(job: JobStatus) -> list[tuple[int, float]]:
    """Iterations and losses, the first and the latest among them; the kept losses end with the latest iteration."""
    losses = job.losses
    if not losses:
        return []
    first = (len(losses) - 1 if job.iteration is None else job.iteration) - len(losses) + 1
    count = min(len(losses), POINTS)
    places = [place * (len(losses) - 1) // max(count - 1, 1) for place in range(count)]
    return [(first + place, float(f"{losses[place]:.7g}")) for place in places]


def _text(text: str) -> str:
    return printable(text)[:LONGEST_LABEL]

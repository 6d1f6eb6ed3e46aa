"""What `slaq.jobs()` returns: one record per job, with the loss curve as far as it is kept."""

from collections.abc import Sequence
from statistics import median

from msgspec import Struct

from slaq.records import Standing

LOSSES_KEPT = 1024
"""Losses per job in a status; older ones are dropped."""

PACE_OVER = 8
"""Iterations whose median length is taken for a job's pace."""


class JobStatus(Struct, frozen=True):
    """One training run as its user sees it; None where something is not known (yet)."""

    id: str
    name: str
    estimator: str
    """The MLlib class, "custom" for reported jobs, "other work" for the rest of the application."""
    state: str = "running"
    """"running", "ended", "stopped" (early, with the model it had) or "failed"."""
    iteration: int | None = None
    loss: float | None = None
    """The latest loss, lower being better; a higher-is-better metric appears with its sign turned."""
    delta: float | None = None
    """How far the latest iteration brought the loss down."""
    cores: float | None = None
    """The cores granted; None: not limited."""
    running_tasks: int = 0
    reached: float | None = None
    """Share of the whole expected loss reduction, from 0 to 1."""
    iterations_to_90: float | None = None
    """Iterations until 90 % of it; 0 if they are reached."""
    iterations_to_95: float | None = None
    seconds_to_95: float | None = None
    """The same in seconds, at the recent pace."""
    weight: float = 1.0
    target_loss: float | None = None
    group: str = ""
    good_enough: str | None = None
    """Why the early answer's rule holds, if it does."""
    error: str | None = None
    elapsed_s: float = 0.0
    cpu_s: float = 0.0
    metrics: dict[str, float] = {}
    """The extra metrics of the latest report."""
    losses: tuple[float, ...] = ()


def progress(standing: Standing | None, lengths_s: Sequence[float]) -> dict[str, float | None]:
    """The fields of a JobStatus that tell how far a job has come, from its standing and its latest iterations."""
    if standing is None:
        return {}
    return {
        "reached": standing.reached,
        "iterations_to_90": standing.to_90,
        "iterations_to_95": standing.to_95,
        "seconds_to_95": standing.to_95 * median(lengths_s) if lengths_s else None,
    }

"""What `slaq.jobs()` returns: one record per job, with the loss curve as far as it is kept."""

from msgspec import Struct

LOSSES_KEPT = 1024
"""Losses per job in a status; older ones are dropped."""


class JobStatus(Struct, frozen=True):
    """One training run as its user sees it; None where something is not known (yet)."""

    id: str
    name: str
    estimator: str
    """The MLlib class, "custom" for reported jobs, "other work" for the rest of the application."""
    state: str = "running"
    """"running", "ended" or "failed"."""
    iteration: int | None = None
    loss: float | None = None
    """The latest loss, lower being better; a higher-is-better metric appears with its sign turned."""
    delta: float | None = None
    """How far the latest iteration brought the loss down."""
    cores: float | None = None
    """The cores granted; None: not limited."""
    running_tasks: int = 0
    seconds_to_95: float | None = None
    """Predicted seconds until 95 % of the total loss reduction, at the recent pace."""
    weight: float = 1.0
    target_loss: float | None = None
    good_enough: str | None = None
    """Why the early answer's rule holds, if it does."""
    error: str | None = None
    elapsed_s: float = 0.0
    cpu_s: float = 0.0
    metrics: dict[str, float] = {}
    """The extra metrics of the latest report."""
    losses: tuple[float, ...] = ()

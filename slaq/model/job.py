"""A job: one training run (one `fit`), or the other work of an application."""

import math

from msgspec import Struct

from slaq.errors import SlaqError
from slaq.model.history import EMPTY_HISTORY, History

WEIGHTS = (1e-6, 1e6)
"""The smallest and the largest weight: wide enough for any ranking, narrow enough for exact arithmetic."""


class Job(Struct, frozen=True):
    """What the decision needs to know of one job.

    The first group is what the user or the driver declares, the second what the engine keeps.
    """

    id: str
    weight: float = 1.0
    """Multiplies the job's loss reduction, or its fair share (SLAQ §4.3)."""
    max_cores: float = math.inf
    """More cores than this are of no use: its partitions, or a limit set by the user."""
    reserved_cores: float = 0.0
    """Cores it gets before anything is shared out, as far as the floors of the others allow."""
    target_loss: float | None = None
    """A hint for non-convex training (SLAQ §7): the loss the user hopes for."""
    max_iterations: int | None = None
    """The job ends after so many at the latest (`maxIter`); None: not known."""
    ml: bool = True
    """False: work without a loss, which gets its fair share."""
    estimator: str = ""
    """What trains, by the name of its class; a hint for what to expect before there are losses."""
    held: bool = False
    """Set aside by its user: no cores until released."""

    history: History = EMPTY_HISTORY
    cores: float = 0.0
    """What the latest decision gave."""
    waited: int = 0
    """Epochs in a row with less than an even share of too few cores for all."""
    spent_core_s: float = 0.0
    """Core-seconds held since its latest report: the iteration under way costs at least about this. Of a job that does
    not tell what it held, core-seconds given."""
    counted_core_s: float | None = None
    """Core-seconds held at its latest report; None of a job that does not tell."""
    ready_core_s: float | None = None
    """Core-seconds spent before its first report; None until then."""
    seen_s: float = 0.0
    """When the job was last heard of."""


def checked(job: Job) -> Job:
    """The job, if its declared numbers make sense; a SlaqError naming the value otherwise."""
    if not job.id:
        raise SlaqError("a job needs a non-empty id")
    if not WEIGHTS[0] <= job.weight <= WEIGHTS[1]:
        raise SlaqError(
            f"job {job.id!r}: weight is {job.weight!r}; give a number from {WEIGHTS[0]:g} to {WEIGHTS[1]:g}, usually 1"
        )
    if not job.max_cores >= 1:
        raise SlaqError(f"job {job.id!r}: max_cores is {job.max_cores!r}; give 1 or more, or leave it out")
    if not (math.isfinite(job.reserved_cores) and job.reserved_cores >= 0):
        raise SlaqError(f"job {job.id!r}: reserved_cores is {job.reserved_cores!r}; give 0 or more")
    if job.target_loss is not None and not math.isfinite(job.target_loss):
        raise SlaqError(f"job {job.id!r}: target_loss is {job.target_loss!r}; give a finite loss or leave it out")
    if job.max_iterations is not None and job.max_iterations < 0:
        raise SlaqError(f"job {job.id!r}: max_iterations is {job.max_iterations!r}; give 0 or more, or leave it out")
    return job

"""A job: one training run (one `fit`), or the other work of an application."""

import math

from msgspec import Struct

from slaq.errors import SlaqError
from slaq.model.expectation import EXPECT_NOTHING, Expectation
from slaq.model.history import EMPTY_HISTORY, History
from slaq.model.life import Life
from slaq.records import WEIGHTS


class Job(Struct, frozen=True, gc=False):
    """What the decision needs to know of one job.

    The first group is what the user or the driver declares, the second what the engine keeps.
    """

    id: str
    user: str = ""
    group: str = ""
    """Jobs of one user that belong together, as the candidates of a search; empty: none."""
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
    expected: Expectation = EXPECT_NOTHING
    """What fits like it took before."""

    life: Life = Life()
    history: History = EMPTY_HISTORY
    arrived_s: float = 0.0
    """When the job joined."""
    cores: float = 0.0
    """What the latest decision gave."""
    waited: int = 0
    """Epochs in a row with less than an even share of too few cores for all."""
    attained_core_s: float = 0.0
    """Core-seconds its tasks have held since it joined; of a job that does not tell, core-seconds granted."""
    told: bool = False
    """Whether its driver tells what its tasks held."""
    reported_core_s: float = 0.0
    """`attained_core_s` at its latest report."""
    ready_core_s: float | None = None
    """What it took to get ready: `attained_core_s` at its first report, without the work of the iterations that came
    with it. None until then."""
    due_core_s: float = 0.0
    """Core-seconds that the tasks left in its stages under way will hold, as its driver foresees them; 0: not known."""
    seen_s: float = 0.0
    """When its driver was last heard of."""
    utility: tuple[float, float, float] | None = None
    """Declared: what its end is worth by the seconds t since it joined, worth / (1 + exp(urgency (t - target))), as
    worth, urgency per second and target in seconds. None: nothing was said."""

    te: bool = False
    """Declared: a trial that somebody watches, which gets in before best-effort jobs (`slaq.policy.room`)."""
    preempted_by: str = ""
    """The job that it made room for latest, which it waits for while its life says so."""
    preemptions: int = 0
    """How often it has made room for another."""

    @property
    def spent_core_s(self) -> float:
        """Core-seconds held since its latest report: the iteration under way costs at least about this."""
        return self.attained_core_s - self.reported_core_s


def validated(job: Job) -> Job:
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
    if job.utility is not None:
        worth, urgency, target = job.utility
        if not (0.0 < worth < math.inf and 0.0 <= urgency < math.inf and 0.0 <= target < math.inf):
            raise SlaqError(
                f"job {job.id!r}: utility is {job.utility!r}; give a positive worth, an urgency per second and "
                "a target in seconds, 0 or more"
            )
    return job

"""What the scheduler has learned from the fits it saw end, and what it expects of new ones."""

from collections.abc import Callable

from slaq.config import Config
from slaq.model import EXPECT_NOTHING, Expectation, Job, PastFit
from slaq.model.past import reached
from slaq.predict.past_fits import PastFits
from slaq.protocol import Declaration
from slaq.scheduler.live import LiveJob

OFF = "off"
"""`scheduler.archive`: expect nothing, learn nothing."""


class Experience:
    """Past fits in memory. Not thread-safe: the scheduler holds its lock around every call."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.fits = PastFits()
        self.keep: Callable[[PastFit], None] = lambda _: None
        """Told of every fit that ends; must return at once."""

    def expects(self, declared: Declaration) -> Expectation:
        """What a job is expected to take."""
        if self.config.scheduler.archive == OFF or not declared.ml:
            return EXPECT_NOTHING
        return self.fits.expect(declared.estimator, declared.traits, declared.max_iterations)

    def gained(self, job: LiveJob, known: Job) -> PastFit | None:
        """What there is to learn from a job that is over; it counts from now on."""
        if self.config.scheduler.archive == OFF:
            return None
        past = past_fit(job, known)
        if past is not None:
            self.fits.add([past])
            self.keep(past)
        return past


def past_fit(job: LiveJob, known: Job) -> PastFit | None:
    """What a job took; None if it says nothing of others: it trained nothing, or its driver does not tell its costs.

    Of one that did not run to its end only the costs are known.
    """
    declared, spending = job.declared, job.spending
    if not (declared.ml and declared.estimator and known.told and spending.iterations and spending.work_core_s > 0.0):
        return None
    return PastFit(
        estimator=declared.estimator,
        traits=declared.traits,
        ready_core_s=known.ready_core_s or None,
        work_core_s=spending.work_core_s / spending.iterations,
        serial_s=spending.serial_s / spending.iterations,
        iterations=float(max(known.history.latest_iteration, 0)),
        max_iterations=declared.max_iterations,
        reached=reached((at, loss) for _, at, loss in job.losses.points()) if known.life.state == "finished" else (),
    )

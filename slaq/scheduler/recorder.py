"""The engine's state, the events on their way to it, and the record of both.

Events are gathered and run in batches: a batch copies the state once. What was run is logged in the same
order, an epoch at a time, so that the log replays to the same decisions.
"""

import logging
from collections.abc import Sequence

from slaq.engine import Effect, EpochEnded, Event, State, run
from slaq.errors import SlaqError
from slaq.model import Job
from slaq.protocol import JobView
from slaq.scheduler import views
from slaq.scheduler.foresight import Foreseer
from slaq.scheduler.live import LiveJob
from slaq.scheduler.rows import row_of
from slaq.scheduler.store import Archive, JobRow

log = logging.getLogger(__name__)

BATCH = 256
"""Events that wait at most: small enough to run between two beats, large enough to pay for the copy."""


class Recorder:
    """Runs the engine and writes down what it did."""

    def __init__(self, state: State, archive: Archive) -> None:
        self.state = state
        self.rejected = 0
        """Events the engine refused although intake had checked them."""
        self.foreseer = Foreseer()
        self._archive = archive
        self._pending: list[Event] = []
        self._events: list[Event] = []
        self._effects: list[Effect] = []
        """What was run in this epoch, and what followed from it: for the log."""
        self._untold: list[Effect] = []
        """Effects that nobody has asked for yet."""
        archive.begin_log(state)

    def happened(self, event: Event) -> None:
        """One more event; it takes effect with the next `flush` at the latest."""
        self._pending.append(event)
        if len(self._pending) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Bring the state up to date; effects wait for `effects`."""
        if not self._pending:
            return
        events, self._pending = self._pending, []
        try:
            self._run(events)
        except SlaqError:
            for event in events:
                self._run_alone(event)

    def effects(self) -> list[Effect]:
        """The effects of all events so far, each handed out once."""
        self.flush()
        found, self._untold = self._untold, []
        return found

    def decide(self, now_s: float) -> list[Effect]:
        """End the epoch: decide, and log it."""
        self.flush()
        self._run([EpochEnded(now_s)])
        self._archive.log(self._events, self._effects, self.state)
        self._events, self._effects = [], []
        return self.effects()

    def known(self, job: LiveJob) -> Job:
        """What the engine knows of a living job."""
        return self.state.jobs.get(job.key) or Job(job.key, job.user)

    def views(self, jobs: Sequence[LiveJob]) -> list[JobView]:
        """Living jobs, each in one line."""
        self.flush()
        return [views.job_view(job, self.known(job)) for job in jobs]

    def rows(self, jobs: Sequence[LiveJob]) -> list[JobRow]:
        """All there is to know of living jobs."""
        self.flush()
        self.foreseer.refresh(jobs)
        return [row_of(job, self.known(job), self.state.cores) for job in jobs]

    def save(self, jobs: Sequence[LiveJob]) -> None:
        """Write living jobs to the archive."""
        for row in self.rows(jobs):
            self._archive.save(row)

    def save_ended(self, job: LiveJob, ended: Job, wall: float) -> int:
        """Write a job that has ended, as the engine last knew it."""
        self.foreseer.refresh([job])
        return self._archive.save(row_of(job, ended, self.state.cores, wall))

    def _run(self, events: Sequence[Event]) -> None:
        self.state, effects = run(self.state, events, self.foreseer)
        self._events += events
        self._effects += effects
        self._untold += effects

    def _run_alone(self, event: Event) -> None:
        try:
            self._run([event])
        except SlaqError as error:
            self.rejected += 1
            log.warning("the engine refused %s: %s", type(event).__name__, error)

"""The engine's state, the events on their way to it, and the record of both.

Events are gathered and run in batches: a batch copies the state once. What was run is logged in the same
order, an epoch at a time, so that the log replays to the same decisions.
"""

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from slaq.engine import Effect, EpochEnded, Event, State, run
from slaq.errors import SlaqError
from slaq.protocol import JobState, JobView
from slaq.scheduler import views
from slaq.scheduler.archive import Archive, JobRow
from slaq.scheduler.foresight import Foreseer
from slaq.scheduler.live import LiveJob

BATCH = 256
"""Events that wait at most: small enough to run between two beats, large enough to pay for the copy."""


class Recorder:
    """Runs the engine and writes down what it did."""

    def __init__(self, state: State, archive: Archive) -> None:
        self.state = state
        self.rejected = 0
        """Events the engine refused although they were checked at the door."""
        self.foreseer = Foreseer()
        self._archive = archive
        self._pending: list[Event] = []
        self._done: list[Event] = []
        archive.begin_log(state)

    def happened(self, event: Event) -> None:
        """One more event; it takes effect with the next `flush` at the latest."""
        self._pending.append(event)
        if len(self._pending) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Bring the state up to date."""
        if not self._pending:
            return
        events, self._pending = self._pending, []
        try:
            self.state, _ = run(self.state, events)
            self._done += events
        except SlaqError:
            for event in events:
                self._single(event)

    def decide(self, now_s: float) -> list[Effect]:
        """End the epoch: decide, and log it."""
        self.flush()
        event = EpochEnded(now_s)
        self.state, effects = run(self.state, [event], self.foreseer)
        self._archive.log([*self._done, event], effects, self.state)
        self._done = []
        return effects

    def retime(self, epoch_s: float, lease_s: float) -> None:
        """Other lengths of epoch and lease from now on; the log starts anew."""
        if (epoch_s, lease_s) != (self.state.epoch_s, self.state.lease_s):
            self.flush()
            self.state = replace(self.state, epoch_s=epoch_s, lease_s=lease_s)
            self._done = []
            self._archive.begin_log(self.state)

    def views(self, jobs: Sequence[LiveJob]) -> list[JobView]:
        """Living jobs, each in one line."""
        self.flush()
        self.foreseer.refresh(jobs)
        return [views.job_view(job, self.state.jobs.get(job.key), views.live_state(job)) for job in jobs]

    def rows(self, jobs: Sequence[LiveJob]) -> list[JobRow]:
        """All there is to know of living jobs."""
        self.flush()
        self.foreseer.refresh(jobs)
        return [views.job_row(job, self.state, views.live_state(job)) for job in jobs]

    def save(self, jobs: Sequence[LiveJob]) -> None:
        """Write living jobs to the archive."""
        for row in self.rows(jobs):
            self._archive.save(row)

    def save_ended(self, job: LiveJob, outcome: JobState, wall: float, known: State) -> int:
        """Write a job that is no longer alive; `known` is a state in which the engine still knows it."""
        self.foreseer.refresh([job])
        return self._archive.save(views.job_row(job, known, outcome, wall))

    def lose_others(self, living: Collection[str]) -> None:
        """Jobs that are on record as alive, but are not among these, were lost."""
        self.flush()
        self._archive.lose_others(set(living))

    def _single(self, event: Event) -> None:
        try:
            self.state, _ = run(self.state, [event])
            self._done.append(event)
        except SlaqError:
            self.rejected += 1

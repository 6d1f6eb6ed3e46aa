"""The memory of jobs beyond their life: what is kept of each, and a keeper without a disk."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Protocol

from msgspec import Struct

from slaq.engine import Effect, Event, State
from slaq.model import History
from slaq.protocol import Declaration, Explanation, JobView, Prediction
from slaq.scheduler.curve import Points


class JobRow(Struct, frozen=True):
    """All that is kept of a job: enough to show it, and to go on with it after a restart."""

    view: JobView
    declared: Declaration
    losses: Points
    cores: Points
    received: int
    weight: float | None
    held: bool
    cancel: bool
    explanation: Explanation | None
    prediction: Prediction | None
    history: History | None
    """What the engine knows of it, while it is not over."""

    @property
    def over(self) -> bool:
        """Whether it ended, as far as its own driver said."""
        return self.view.state in ("finished", "failed", "cancelled")


class Archive(Protocol):
    """Keeps jobs and decisions. Writing returns at once; reading sees what was written before."""

    def save(self, row: JobRow) -> int:
        """Write a job; the ticket tells when it is safe."""

    def is_saved(self, ticket: int) -> bool:
        """Whether what this ticket stands for survives a crash of this process."""

    def load(self, key: str) -> JobRow | None:
        """A job, if it is there."""

    def ticket(self) -> int:
        """A ticket for all that was written so far."""

    def select(self, user: str | None, states: Collection[str], most: int) -> tuple[list[JobView], int]:
        """The jobs that are no longer alive, newest first, at most so many; and how many there are."""

    def counts(self) -> dict[str, int]:
        """Number of jobs that are no longer alive, by state."""

    def begin_log(self, state: State) -> None:
        """What is logged from here on starts with this state."""

    def log(self, events: Sequence[Event], effects: Sequence[Effect], state: State) -> None:
        """An epoch: what happened in it, what was decided, and the state after it."""

    def lose_others(self, living: Collection[str]) -> None:
        """Jobs that are on record as alive, but are not among these, were lost."""

    def problems(self) -> list[str]:
        """What an administrator should know."""


class MemoryArchive:
    """Keeps the latest jobs that ended as long as the process lives, and no decisions."""

    def __init__(self, most: int = 1000) -> None:
        self._most = most
        self._rows: dict[str, JobRow] = {}

    def save(self, row: JobRow) -> int:
        """See Archive.save."""
        self._rows.pop(row.view.id, None)
        if row.view.ended_at is not None:
            self._rows[row.view.id] = row
        while len(self._rows) > self._most:
            self._rows.pop(next(iter(self._rows)))
        return 0

    def ticket(self) -> int:
        """See Archive.ticket."""
        return 0

    def is_saved(self, ticket: int) -> bool:
        """As safe as it gets."""
        return ticket == 0

    def load(self, key: str) -> JobRow | None:
        """See Archive.load."""
        return self._rows.get(key)

    def select(self, user: str | None, states: Collection[str], most: int) -> tuple[list[JobView], int]:
        """See Archive.select."""
        found = [
            row.view
            for row in reversed(self._rows.values())
            if (user is None or row.view.user == user) and row.view.state in states
        ]
        return found[:most], len(found)

    def counts(self) -> dict[str, int]:
        """See Archive.counts."""
        return Counter(row.view.state for row in self._rows.values())

    def begin_log(self, state: State) -> None:
        """See Archive.begin_log."""

    def log(self, events: Sequence[Event], effects: Sequence[Effect], state: State) -> None:
        """See Archive.log."""

    def lose_others(self, living: Collection[str]) -> None:
        """See Archive.lose_others."""

    def problems(self) -> list[str]:
        """See Archive.problems."""
        return []

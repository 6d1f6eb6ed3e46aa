"""What a scheduler needs of its archive, and an archive without a disk."""

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Protocol

from slaq.engine import Effect, Event, State
from slaq.scheduler.store.known import Known
from slaq.scheduler.store.records import JobRow, Summary


class Archive(Protocol):
    """Keeps jobs and decisions.

    `load`, `select` and `counts` may wait for a disk: call them without the scheduler's lock. Everything else returns
    at once.
    """

    def save(self, row: JobRow) -> int:
        """Write a job; the ticket tells when it is safe."""

    def ticket(self) -> int:
        """A ticket for all that was written so far."""

    def is_saved(self, ticket: int) -> bool:
        """Whether what this ticket stands for survives a crash of this process."""

    def known(self, key: str) -> Known | None:
        """An earlier job of this key, if it is remembered."""

    def load(self, key: str) -> JobRow | None:
        """A job, if it is there."""

    def select(self, user: str | None, states: Collection[str], most: int) -> tuple[list[Summary], int]:
        """The jobs that are no longer alive, newest first, at most so many; and how many there are."""

    def counts(self) -> dict[str, int]:
        """Number of jobs that are no longer alive, by state."""

    def begin_log(self, state: State) -> None:
        """What is logged from here on starts with this state."""

    def log(self, events: Sequence[Event], effects: Sequence[Effect], state: State) -> None:
        """An epoch: what happened in it, what was decided, and the state after it."""

    def log_folder(self) -> Path | None:
        """Where the log is, for whoever reads it; None: there is none."""

    def lose_others(self) -> None:
        """Jobs that earlier schedulers left alive, and that were not saved since, are lost."""

    def problems(self) -> list[str]:
        """What an administrator should know."""


class MemoryArchive:
    """Keeps the latest jobs that ended as long as the process lives, and no decisions."""

    def __init__(self, most: int = 1000) -> None:
        self._most = most
        self._rows: dict[str, JobRow] = {}

    def save(self, row: JobRow) -> int:
        """See Archive.save."""
        self._rows.pop(row.summary.id, None)
        if not row.alive:
            self._rows[row.summary.id] = row
        while len(self._rows) > self._most:
            self._rows.pop(next(iter(self._rows)))
        return 0

    def ticket(self) -> int:
        """See Archive.ticket."""
        return 0

    def is_saved(self, ticket: int) -> bool:
        """As safe as it gets."""
        return ticket == 0

    def known(self, key: str) -> Known | None:
        """See Archive.known."""
        row = self._rows.get(key)
        return None if row is None else Known(row.summary.user, row.summary.state, row)

    def load(self, key: str) -> JobRow | None:
        """See Archive.load."""
        return self._rows.get(key)

    def select(self, user: str | None, states: Collection[str], most: int) -> tuple[list[Summary], int]:
        """See Archive.select."""
        found = [row.summary for row in reversed(list(self._rows.values())) if matches(row, user, states)]
        return found[:most], len(found)

    def counts(self) -> dict[str, int]:
        """See Archive.counts."""
        return Counter(row.summary.state for row in list(self._rows.values()))

    def begin_log(self, state: State) -> None:
        """See Archive.begin_log."""

    def log(self, events: Sequence[Event], effects: Sequence[Effect], state: State) -> None:
        """See Archive.log."""

    def log_folder(self) -> Path | None:
        """None: nothing is logged."""
        return None

    def lose_others(self) -> None:
        """There are none: nothing survives the process."""

    def problems(self) -> list[str]:
        """See Archive.problems."""
        return []


def matches(row: JobRow, user: str | None, states: Collection[str]) -> bool:
    """Whether `select` lists this job."""
    return not row.alive and row.summary.state in states and (user is None or row.summary.user == user)

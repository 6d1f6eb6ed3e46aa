"""Which jobs were there before: what a joining job has to know, in memory, so that no beat waits for a disk."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from msgspec.structs import replace

from slaq.scheduler.store.records import JobRow, is_over

T = TypeVar("T")

MOST_ENDED = 100_000
"""Keys of ended jobs that are remembered. A job older than these begins anew if its driver mentions it again."""
MOST_LOST = 5_000
"""Rows of lost jobs that are remembered so that they can go on if their drivers return."""


@dataclass(frozen=True, slots=True)
class Known:
    """An earlier job of the same key."""

    user: str
    state: str
    row: JobRow | None = None
    """Where to go on; None if the job is over."""

    @property
    def over(self) -> bool:
        """Whether it ended, as far as its own driver said."""
        return is_over(self.state)


class KnownJobs:
    """Ended jobs, and those that the previous scheduler left alive. Thread-safe; the oldest are forgotten first."""

    def __init__(self, most_ended: int = MOST_ENDED, most_lost: int = MOST_LOST) -> None:
        self._most_ended, self._most_lost = most_ended, most_lost
        self._lock = threading.Lock()
        self._ended: dict[str, tuple[str, str]] = {}
        """User and state by key."""
        self._left: dict[str, JobRow] = {}
        """Alive when the previous scheduler ended, and not back yet."""
        self._lost: dict[str, JobRow] = {}

    def find(self, key: str) -> Known | None:
        """The earlier job of this key, if there is one."""
        with self._lock:
            row = self._left.get(key) or self._lost.get(key)
            if row is not None:
                return Known(row.summary.user, row.summary.state, row)
            ended = self._ended.get(key)
            return None if ended is None else Known(*ended)

    def note(self, row: JobRow) -> None:
        """A job as it is saved now."""
        key, state = row.summary.id, row.summary.state
        with self._lock:
            for table in (self._ended, self._left, self._lost):
                table.pop(key, None)
            if row.alive:
                return
            if is_over(state):
                _keep(self._ended, key, (row.summary.user, state), self._most_ended)
            else:
                _keep(self._lost, key, row, self._most_lost)

    def adopt(self, left: Iterable[JobRow], lost: Iterable[JobRow], ended: Iterable[tuple[str, str, str]]) -> None:
        """What a database holds from earlier lives, oldest first; what was noted in this one stays."""
        with self._lock:
            mine = self._ended.keys() | self._left.keys() | self._lost.keys()
            self._ended = {key: (user, state) for key, user, state in ended if key not in mine} | self._ended
            self._left = {row.summary.id: row for row in left if row.summary.id not in mine} | self._left
            self._lost = {row.summary.id: row for row in lost if row.summary.id not in mine} | self._lost

    def lose_left(self) -> None:
        """Whoever is not back by now is lost."""
        with self._lock:
            left, self._left = self._left, {}
            for key, row in left.items():
                _keep(self._lost, key, as_lost(row), self._most_lost)


def as_lost(row: JobRow) -> JobRow:
    """A job whose driver did not come back, as of when it was last heard of."""
    summary = replace(row.summary, state="lost", ended_at=row.summary.seen_at, cores=0.0)
    return replace(row, summary=summary)


def _keep(table: dict[str, T], key: str, value: T, most: int) -> None:
    table[key] = value
    while len(table) > most:
        table.pop(next(iter(table)))

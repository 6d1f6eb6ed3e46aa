"""The archive on disk: a writer on its own thread, so that neither a beat nor a decision waits for a disk."""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from slaq.config import RetentionConfig
from slaq.engine import Effect, Event, State
from slaq.engine.log import Epoch
from slaq.scheduler.store.archive import matches
from slaq.scheduler.store.database import Database, is_damaged
from slaq.scheduler.store.decision_log import DecisionLog
from slaq.scheduler.store.files import lock
from slaq.scheduler.store.history_file import HistoryFile
from slaq.scheduler.store.known import Known, KnownJobs
from slaq.scheduler.store.records import JobRow, KeptFit, Summary

log = logging.getLogger(__name__)
T = TypeVar("T")
Clock = Callable[[], float]

WRITE_S = 0.1
"""Changes are gathered for this long, then written together."""
RETRY_S = 1.0
RETAIN_S = 60.0
MOST_WAITING = 50_000
"""Jobs that wait for a disk that takes nothing; of more, the oldest are given up."""
MOST_EPOCHS = 16
"""The same for epochs of the decision log."""


class DiskArchive:
    """See Archive. One process at a time may use a folder."""

    def __init__(
        self, folder: Path, retention: RetentionConfig, clock: Clock = time.monotonic, wall: Clock = time.time
    ) -> None:
        """The clocks are those of the scheduler: its wall clock says how old jobs are.

        A SlaqError if another scheduler uses the folder, or if a newer SLAQ wrote its history.
        """
        self.retention = retention
        self._clock, self._wall = clock, wall
        self._folder = folder
        self._lock_file = lock(folder)
        self._known = KnownJobs()
        try:
            self._history = HistoryFile(folder / "history.db", self._known)
        except BaseException:
            self._lock_file.close()
            raise
        self._log = DecisionLog(folder, self.incarnation, retention.log_mb)
        self._problems: dict[str, str] = {}
        self._warned: set[str] = set()
        self._waiting = threading.Condition()
        """Guards everything below."""
        self._rows: dict[str, JobRow] = {}
        self._writing: dict[str, JobRow] = {}
        self._work: list[tuple[str, Callable[[], None]]] = []
        self._epochs = 0
        self._given_up = 0
        self._others_due = False
        self._ticket = self._safe = 0
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="slaq-archive", daemon=True)
        self._thread.start()

    @property
    def incarnation(self) -> int:
        """The number of this scheduler."""
        return self._history.incarnation

    @property
    def restarted(self) -> bool:
        """Whether jobs were alive when the previous scheduler ended."""
        return self._history.restarted

    def save(self, row: JobRow) -> int:
        """See Archive.save."""
        self._known.note(row)
        with self._waiting:
            self._ticket += 1
            self._rows.pop(row.summary.id, None)  # the latest goes to the end
            self._rows[row.summary.id] = row
            if len(self._rows) > MOST_WAITING:
                self._rows.pop(next(iter(self._rows)))
                self._given_up += 1
            self._waiting.notify()
            return self._ticket

    def ticket(self) -> int:
        """See Archive.ticket."""
        return self._ticket

    def is_saved(self, ticket: int) -> bool:
        """See Archive.is_saved."""
        return ticket <= self._safe

    def known(self, key: str) -> Known | None:
        """See Archive.known."""
        return self._known.find(key)

    def load(self, key: str) -> JobRow | None:
        """See Archive.load."""
        with self._waiting:
            waiting = self._rows.get(key) or self._writing.get(key)
        return waiting or self._read(lambda database: database.load(key), None)

    def select(self, user: str | None, states: Collection[str], most: int) -> tuple[list[Summary], int]:
        """See Archive.select."""
        with self._waiting:  # first: a row that is written meanwhile is then in both, not in neither
            waiting = self._writing | self._rows
        nothing: tuple[list[Summary], int] = ([], 0)
        kept, count = self._read(lambda database: database.select(user, states, most), nothing)
        fresh = [row.summary for row in waiting.values() if matches(row, user, states)]
        known = {summary.id for summary in kept}
        older = [summary for summary in kept if summary.id not in waiting]
        return [*fresh, *older], count + sum(summary.id not in known for summary in fresh)

    def counts(self) -> dict[str, int]:
        """See Archive.counts."""
        nothing: dict[str, int] = {}
        return self._read(lambda database: database.counts(), nothing)

    def past_fits(self, most: int) -> list[KeptFit]:
        """What the latest jobs that are over took, oldest first; may wait for the disk."""
        nothing: list[KeptFit] = []
        return self._read(lambda database: database.past_fits(most), nothing)

    def begin_log(self, state: State) -> None:
        """See Archive.begin_log."""
        self._later("decision log", lambda: self._log.begin(state))

    def log(self, events: Sequence[Event], effects: Sequence[Effect], state: State) -> None:
        """See Archive.log."""
        with self._waiting:
            behind = self._epochs >= MOST_EPOCHS
            self._epochs += not behind
        # A gap: the next epoch that is written starts a new file.
        self._later("decision log", self._log.close if behind else partial(self._append, events, effects, state))

    def log_folder(self) -> Path | None:
        """See Archive.log_folder."""
        return self._folder

    @property
    def behind(self) -> int:
        """Epochs of the decision log that wait for the disk."""
        return self._epochs

    def lose_others(self) -> None:
        """See Archive.lose_others."""
        self._known.lose_left()
        with self._waiting:
            self._others_due = True
            self._waiting.notify()

    def problems(self) -> list[str]:
        """See Archive.problems."""
        with self._waiting:
            found = [self._history.problem, *self._problems.values()]
            if self._given_up:
                found.append(f"{self._given_up} jobs were not saved: the disk took nothing for too long")
        return [problem for problem in found if problem]

    def close(self) -> None:
        """Write what is waiting, as far as the disk takes it."""
        with self._waiting:
            self._closed = True
            self._waiting.notify()
        self._thread.join(timeout=10.0)
        self._lock_file.close()

    def _later(self, what: str, work: Callable[[], None]) -> None:
        with self._waiting:
            self._work.append((what, work))
            self._waiting.notify()

    def _append(self, events: Sequence[Event], effects: Sequence[Effect], state: State) -> None:
        with self._waiting:
            self._epochs -= 1
        self._log.append(Epoch(events, effects), state)

    def _run(self) -> None:
        retained_s = self._clock()
        while True:
            with self._waiting:
                self._waiting.wait_for(
                    lambda: self._rows or self._work or self._others_due or self._closed, timeout=RETAIN_S
                )
                closing = self._closed
            if not closing:
                time.sleep(WRITE_S)
            written = self._write()
            if closing:
                self._log.close()
                self._history.close()
                return
            if not written:
                time.sleep(RETRY_S)
            elif self._clock() - retained_s > RETAIN_S:
                retained_s = self._clock()
                self._guarded("history", self._retain)

    def _write(self) -> bool:
        """Write what waits; what could not be written waits on."""
        with self._waiting:
            self._writing, self._rows = self._rows, {}
            work, self._work = self._work, []
            ticket, others_due = self._ticket, self._others_due
        for what, write in work:
            self._guarded(what, write)
        rows = list(self._writing.values())
        written = not rows or self._guarded("history", lambda: self._history.write(rows))
        # Jobs that came back are written before those that did not are lost.
        lost = others_due and written and self._guarded("history", self._history.lose_others)
        with self._waiting:
            if written:
                self._safe = ticket
            else:
                self._rows = self._writing | self._rows
            self._writing = {}
            self._others_due = self._others_due and not lost
        return written and lost == others_due

    def _retain(self) -> None:
        self._history.retain(self._wall() - self.retention.age_d * 86_400, self.retention.size_mb)
        self._log.size_mb = self.retention.log_mb

    def _guarded(self, what: str, write: Callable[[], None]) -> bool:
        """Whether it could be written. The first failure of a kind is logged; a problem stays while it lasts."""
        try:
            write()
        except Exception as error:  # the writer must not end, whatever the disk or SQLite come up with
            level = logging.DEBUG if what in self._warned else logging.WARNING
            self._warned.add(what)
            log.log(level, "cannot write the %s in %s, decisions go on without: %s", what, self._folder, error)
            sentence = f"cannot write the {what} in {self._folder}: {error}; free some space or check it"
            with self._waiting:
                self._problems[what] = sentence
            if is_damaged(error):
                self._history.replace(error)
            return False
        with self._waiting:
            self._problems.pop(what, None)
        return True

    def _read(self, ask: Callable[[Database], T], otherwise: T) -> T:
        """What readers find, or `otherwise` while the database cannot be read."""
        try:
            found = self._history.read(ask)
        except sqlite3.Error as error:
            if is_damaged(error):
                self._later("history", self._history.heal)
            log.debug("cannot read the history in %s: %s", self._folder, error)
            with self._waiting:
                self._problems["reading"] = f"cannot read the history in {self._folder}: {error}"
            return otherwise
        with self._waiting:
            self._problems.pop("reading", None)
        return found

"""The archive on disk: a writer on its own thread, so that no decision ever waits for a disk."""

import fcntl
import logging
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import IO, TypeVar

from msgspec.structs import replace

from slaq.config import RetentionConfig
from slaq.engine import Effect, Event, State
from slaq.errors import SlaqError
from slaq.protocol import JobView
from slaq.scheduler.archive import JobRow
from slaq.scheduler.database import Database, is_damaged, move_aside
from slaq.scheduler.journal import Epoch, Journal

log = logging.getLogger(__name__)
T = TypeVar("T")

WRITE_S = 0.1
"""Changes are gathered for this long, then written together."""
RETRY_S = 1.0
RETAIN_S = 60.0
MOST_WAITING = 50_000
"""Jobs that wait for a disk that takes nothing; of more, the oldest are given up."""
MOST_EPOCHS = 16
"""The same for epochs of the log."""


class DiskArchive:
    """See Archive. One process at a time may use a folder."""

    def __init__(self, folder: Path, retention: RetentionConfig) -> None:
        self.retention = retention
        self._folder = folder
        self._lock_file = _lock(folder)
        self._file = folder / "history.db"
        self._problems: dict[str, str] = {}
        self._warned: set[str] = set()
        self.restarted = False
        """Whether jobs were alive when the previous scheduler ended."""
        self._database = self._opened()
        self._reader: Database | None = None
        self._reading = threading.Lock()
        self.incarnation = self._next_incarnation()
        self._journal = Journal(folder, self.incarnation, retention.log_mb)
        self._waiting = threading.Condition()
        self._rows: dict[str, JobRow] = {}
        self._writing: dict[str, JobRow] = {}
        self._work: list[tuple[str, Callable[[], None]]] = []
        self._epochs = 0
        self._ticket = self._safe = 0
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="slaq-archive", daemon=True)
        self._thread.start()

    def save(self, row: JobRow) -> int:
        """See Archive.save."""
        with self._waiting:
            self._ticket += 1
            self._rows.pop(row.view.id, None)  # the latest goes to the end
            self._rows[row.view.id] = row
            if len(self._rows) > MOST_WAITING:
                self._rows.pop(next(iter(self._rows)))
            self._waiting.notify()
            return self._ticket

    def ticket(self) -> int:
        """See Archive.ticket."""
        return self._ticket

    def is_saved(self, ticket: int) -> bool:
        """See Archive.is_saved."""
        return ticket <= self._safe

    def load(self, key: str) -> JobRow | None:
        """See Archive.load."""
        with self._waiting:
            waiting = self._rows.get(key) or self._writing.get(key)
        return waiting or self._read(lambda database: database.load(key), None)

    def select(self, user: str | None, states: Collection[str], most: int) -> tuple[list[JobView], int]:
        """See Archive.select."""
        nothing: tuple[list[JobView], int] = ([], 0)
        kept, count = self._read(lambda database: database.select(user, states, most), nothing)
        with self._waiting:
            waiting = self._writing | self._rows
        if not waiting:
            return kept, count
        fresh = [
            row.view
            for row in waiting.values()
            if row.view.ended_at is not None and row.view.state in states and (user is None or row.view.user == user)
        ]
        known = {view.id for view in kept}
        return [*fresh, *(view for view in kept if view.id not in waiting)], count + sum(
            view.id not in known for view in fresh
        )

    def counts(self) -> dict[str, int]:
        """See Archive.counts."""
        nothing: dict[str, int] = {}
        return self._read(lambda database: database.counts(), nothing)

    def begin_log(self, state: State) -> None:
        """See Archive.begin_log."""
        self._later("log", lambda: self._journal.begin(state))

    def log(self, events: Sequence[Event], effects: Sequence[Effect], state: State) -> None:
        """See Archive.log."""

        def write() -> None:
            self._epochs -= 1
            self._journal.append(Epoch(events, effects), state)

        if self._epochs < MOST_EPOCHS:
            self._epochs += 1
            self._later("log", write)
        else:
            self._later("log", self._journal.close)  # a gap: the next epoch that is written starts a new file

    def lose_others(self, living: Collection[str]) -> None:
        """See Archive.lose_others."""

        def lose() -> None:
            for row in self._database.living() if self._database is not None else ():
                if row.view.id not in living:
                    self.save(replace(row, view=replace(row.view, state="lost", ended_at=row.view.seen_at, cores=0.0)))

        self._later("history", lose)

    def problems(self) -> list[str]:
        """See Archive.problems."""
        return list(self._problems.values())

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

    def _run(self) -> None:
        retained_s = time.monotonic()
        while True:
            with self._waiting:
                self._waiting.wait_for(lambda: self._rows or self._work or self._closed, RETAIN_S)
                closing = self._closed
            if not closing:
                time.sleep(WRITE_S)
            with self._waiting:
                self._writing, self._rows = self._rows, {}
                work, self._work = self._work, []
                ticket = self._ticket
            for what, write in work:
                self._guarded(what, write)
            written = not self._writing or self._guarded("history", self._write_rows)
            with self._waiting:
                if written:
                    self._safe = ticket
                else:
                    self._rows = self._writing | self._rows
                self._writing = {}
            if closing:
                return
            if not written:
                time.sleep(RETRY_S)
            elif time.monotonic() - retained_s > RETAIN_S:
                retained_s = time.monotonic()
                self._guarded("history", self._retain)

    def _write_rows(self) -> None:
        if self._database is None:
            self._database = Database(self._file)
        self._database.write(self._writing.values())

    def _retain(self) -> None:
        if self._database is not None:
            oldest_at = time.time() - self.retention.age_d * 86_400
            self._database.retain(oldest_at, self.retention.size_mb)
        self._journal.size_mb = self.retention.log_mb

    def _guarded(self, what: str, write: Callable[[], None]) -> bool:
        """Whether it could be written; the first failure of a kind is logged, all are told while they last."""
        try:
            write()
        except Exception as error:  # the writer must not end, whatever the disk or SQLite come up with
            level = logging.DEBUG if what in self._warned else logging.WARNING
            self._warned.add(what)
            log.log(level, "cannot write the %s in %s, decisions go on without: %s", what, self._folder, error)
            self._problems[what] = f"cannot write the {what} in {self._folder}: {error}; free some space or check it"
            if isinstance(error, sqlite3.Error) and is_damaged(error):
                self._replace(error)
            return False
        self._problems.pop(what, None)
        return True

    def _opened(self) -> Database | None:
        """The database; None if the disk does not let it be opened now."""
        try:
            return self._open()
        except sqlite3.Error as error:
            if is_damaged(error):
                self._set_aside(error)
                return Database(self._file)
            self._problems["history"] = f"cannot open {self._file}: {error}; free some space or check it"
            log.warning("cannot open %s, decisions go on without: %s", self._file, error)
            return None

    def _open(self) -> Database:
        """The database, read for the first time: damage may show only then."""
        database = Database(self._file)
        try:
            self.restarted = database.any_living()
        except sqlite3.Error:
            database.close()
            raise
        return database

    def _set_aside(self, error: sqlite3.Error) -> None:
        aside = move_aside(self._file)
        self._problems["damaged"] = f"{self._file} could not be used ({error}); it was moved to {aside}"
        log.warning("%s could not be used (%s); it was moved to %s, history starts anew", self._file, error, aside)

    def _replace(self, error: sqlite3.Error) -> None:
        """The database turned out to be damaged while in use: start a new one."""
        with self._reading:
            if self._database is None and self._reader is None:
                return  # it was replaced already
            for database in (self._database, self._reader):
                if database is not None:
                    database.close()
            self._database = self._reader = None
            try:
                self._set_aside(error)
            except OSError as failure:
                log.warning("cannot move %s: %s", self._file, failure)

    def _next_incarnation(self) -> int:
        # The time makes it larger than before even if the database was lost; chance tells two of one moment apart.
        least = int(time.time() * 1000) * 1000 + random.randrange(1000)
        try:
            return least if self._database is None else self._database.next_incarnation(least)
        except sqlite3.Error as error:
            log.warning("cannot write the incarnation to %s: %s", self._file, error)
            return least

    def _read(self, read: Callable[[Database], T], otherwise: T) -> T:
        with self._reading:
            try:
                if self._reader is None:
                    self._reader = Database(self._file)
                return read(self._reader)
            except sqlite3.Error as error:
                if is_damaged(error):
                    self._later("history", partial(self._replace, error))
                return otherwise


def _lock(folder: Path) -> IO[str]:
    """Make the folder ours; a SlaqError if it is another scheduler's."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = (folder / "lock").open("a+")
    except OSError as error:
        raise SlaqError(f"cannot use {folder}: {error}; set scheduler.state_dir to a folder of your own") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise SlaqError(
            f"another scheduler uses {folder}; stop it, or give this one its own scheduler.state_dir"
        ) from None
    return file

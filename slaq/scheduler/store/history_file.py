"""The history database as a file: it may be damaged, the disk may be full, and both may pass.

The writer and the readers have a connection each, so that a slow reader delays no write. Damage may show long after it
was done, and what was written in between is then gone with the file: the latest jobs are kept and written again.
"""

import logging
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TypeVar

from slaq.errors import SlaqError
from slaq.scheduler.store.database import Database, is_damaged
from slaq.scheduler.store.files import move_aside
from slaq.scheduler.store.known import KnownJobs
from slaq.scheduler.store.records import JobRow

log = logging.getLogger(__name__)
T = TypeVar("T")

MOST_AGAIN = 1000
"""Ended jobs that are written again into a new database: at most some 10 MB. Living ones are saved again anyway."""


class HistoryFile:
    """`write`, `lose_others`, `retain`, `replace` and `heal` are for the writer's thread, `read` is for everyone."""

    def __init__(self, file: Path, known: KnownJobs) -> None:
        """Open the file; a SlaqError if a newer SLAQ wrote it. What it tells of earlier jobs goes to `known`."""
        self.restarted = False
        """Whether jobs were alive when the previous scheduler ended."""
        self.problem = ""
        """What became of a damaged file."""
        self._file, self._known = file, known
        # The time makes it larger than before even if the database was lost; chance tells two of one moment apart.
        self.incarnation = int(time.time() * 1000) * 1000 + random.randrange(1000)
        self._writing: Database | None = None
        self._reading: Database | None = None
        self._reader = threading.Lock()
        self._opened = (0, 0)
        """Device and inode of the file that the writer has open."""
        self._ended: dict[str, JobRow] = {}
        """The latest ended jobs that were written, oldest first."""
        self._damage: Exception | None = None
        """What a reader found in the file that is open."""
        self._first = True
        try:
            self._open_first()
        except sqlite3.Error as error:
            log.warning("cannot open %s, decisions go on without: %s", file, error)
        self._first = False

    def write(self, rows: Collection[JobRow]) -> None:
        """Write jobs, all or none."""
        if self._writing is not None and not self._in_place():
            self._begin_anew()
        foreign = self._writer().write(rows, self.incarnation)
        if not self._in_place():  # deleted just now: the writer tries again, and begins a new file
            raise FileNotFoundError(f"{self._file} was deleted while it was written to")
        self._keep(rows)
        if foreign:
            log.warning("%d jobs were not saved: their ids belong to jobs of other users", foreign)

    def lose_others(self) -> None:
        """See Database.lose_others."""
        self._writer().lose_others(self.incarnation)

    def retain(self, oldest_at: float, size_mb: float) -> None:
        """See Database.retain."""
        self._writer().retain(oldest_at, size_mb)

    def read(self, ask: Callable[[Database], T]) -> T:
        """What a question finds; may wait for another reader, and may raise sqlite3.Error."""
        with self._reader:
            try:
                if self._reading is None:
                    self._reading = Database(self._file)
                return ask(self._reading)
            except sqlite3.Error as error:
                if is_damaged(error):
                    self._damage = error
                raise

    def heal(self) -> None:
        """Replace a database that a reader found damaged, unless that was done meanwhile."""
        if self._damage is not None:
            self.replace(self._damage)

    def replace(self, error: Exception) -> None:
        """The database turned out to be damaged while in use: start a new one."""
        with self._reader:
            self._close_both()
            self._set_aside(error)
            self._damage = None
        try:
            self._writer()
        except (sqlite3.Error, OSError, SlaqError) as failure:  # tried again with the next write
            log.warning("cannot open %s, decisions go on without: %s", self._file, failure)

    def close(self) -> None:
        """Close the writer's connection; a reader may be at work still."""
        if self._writing is not None:
            self._writing.close()
            self._writing = None

    def _in_place(self) -> bool:
        """Whether the file that was opened is still the one of this name: SQLite goes on writing to a deleted one."""
        try:
            return _place(self._file) == self._opened
        except FileNotFoundError:
            return False

    def _begin_anew(self) -> None:
        with self._reader:
            self._close_both()
        self.problem = f"{self._file} was deleted or replaced while it was in use; history starts anew"
        log.warning("%s", self.problem)

    def _close_both(self) -> None:
        for database in (self._writing, self._reading):
            if database is not None:
                database.close()
        self._writing = self._reading = None

    def _open_first(self) -> None:
        try:
            self._writer()
        except sqlite3.Error as error:
            if not is_damaged(error):
                raise
            self._set_aside(error)
            self._writer()

    def _writer(self) -> Database:
        """The writer's connection; a new one first reads what this process has to know of earlier jobs."""
        if self._writing is None:
            database = Database(self._file)
            try:
                self._opened = _place(self._file)
                self._take_over(database)
            except BaseException:
                database.close()
                raise
            self._writing = database
        return self._writing

    def _take_over(self, database: Database) -> None:
        left = database.left_alive(self.incarnation)
        self._known.adopt(left, database.latest_lost(), database.latest_ended())
        self.restarted = self.restarted or bool(left)
        if self._first:
            self.incarnation = database.next_incarnation(self.incarnation)
        else:
            database.remember_incarnation(self.incarnation)
            database.write(self._ended.values(), self.incarnation)

    def _keep(self, rows: Iterable[JobRow]) -> None:
        for row in rows:
            self._ended.pop(row.summary.id, None)
            if not row.alive:
                self._ended[row.summary.id] = row
        for oldest in list(self._ended)[:-MOST_AGAIN]:
            del self._ended[oldest]

    def _set_aside(self, error: Exception) -> None:
        try:
            aside = move_aside(self._file)
        except OSError as failure:
            log.warning("cannot move the damaged %s: %s", self._file, failure)
            return
        self.problem = f"{self._file} could not be used ({error}); it was moved to {aside}"
        log.warning("%s could not be used (%s); it was moved to %s, history starts anew", self._file, error, aside)


def _place(file: Path) -> tuple[int, int]:
    found = file.stat()
    return found.st_dev, found.st_ino

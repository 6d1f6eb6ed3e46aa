"""The history of jobs in SQLite: one row per job, and the number of the latest scheduler."""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

import slaq
from slaq.errors import SlaqError
from slaq.scheduler.store import migrations
from slaq.scheduler.store.files import make_private
from slaq.scheduler.store.known import MOST_ENDED, MOST_LOST
from slaq.scheduler.store.records import JobRow, KeptFit, Summary
from slaq.scheduler.store.schema import (
    KEEP_OLDEST,
    OLDEST,
    ROW,
    SUMMARY,
    TABLES,
    UPSERT,
    VERSION,
    to_columns,
    to_row,
    to_summary,
)

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_MIGRATIONS = {1: migrations.from_1}
"""By the version they start from; each leads to the next."""


class _Past(msgspec.Struct):
    """The one part of a body that `past_fits` reads."""

    past: KeptFit | None = None


_past = msgspec.msgpack.Decoder(_Past).decode


class Database:
    """One connection, used by one thread at a time. Every method may raise sqlite3.Error."""

    def __init__(self, file: Path) -> None:
        """Open the file and bring it up to date; a SlaqError if a newer SLAQ wrote it."""
        make_private(file)
        self._connection = sqlite3.connect(file, timeout=1.0, isolation_level=None, check_same_thread=False)
        self._connection.text_factory = lambda text: text.decode("utf-8", "replace")  # as far as a damaged one is text
        try:
            self._prepare(file)
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def next_incarnation(self, least: int) -> int:
        """A number larger than any before, and at least `least`; it is on disk when this returns."""
        with self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            latest = connection.execute("SELECT value FROM meta WHERE name = 'incarnation'").fetchone()
            number = max(least, latest[0] + 1 if latest else 0)
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('incarnation', ?)", (number,))
        return number

    def remember_incarnation(self, number: int) -> None:
        """The next one will be larger than this number."""
        self._connection.execute(
            "INSERT INTO meta VALUES ('incarnation', ?) "
            "ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)",
            (number,),
        )

    def write(self, rows: Collection[JobRow], incarnation: int) -> int:
        """Write jobs, all or none; the number of those that were not written because their id is another user's."""
        with self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            written = connection.executemany(UPSERT, [to_columns(row, incarnation) for row in rows]).rowcount
        return len(rows) - written

    def lose_others(self, incarnation: int) -> None:
        """Jobs that are on record as alive, but that this scheduler never wrote, were lost."""
        self._connection.execute(
            "UPDATE jobs SET state = 'lost', ended_at = seen_at, cores = 0 WHERE ended_at IS NULL AND saved_by <> ?",
            (incarnation,),
        )

    def load(self, key: str) -> JobRow | None:
        """A job, if it is there."""
        found = _readable(self._connection.execute(f"SELECT {ROW} FROM jobs WHERE id = ?", (key,)))
        return found[0] if found else None

    def select(self, user: str | None, states: Collection[str], most: int) -> tuple[list[Summary], int]:
        """The jobs that are no longer alive, newest first, at most so many; and how many there are."""
        where, values = f"ended_at IS NOT NULL AND state IN ({', '.join('?' * len(states))})", tuple(states)
        if user is not None:
            where, values = f"{where} AND user = ?", (*values, user)
        count = self._connection.execute(f"SELECT count(*) FROM jobs WHERE {where}", values).fetchone()[0]
        newest = f"SELECT {SUMMARY} FROM jobs WHERE {where} ORDER BY ended_at DESC LIMIT ?"
        return [to_summary(found) for found in self._connection.execute(newest, (*values, most))], count

    def counts(self) -> dict[str, int]:
        """Number of jobs that are no longer alive, by state."""
        counted = "SELECT state, count(*) FROM jobs WHERE ended_at IS NOT NULL GROUP BY state"
        return dict(self._connection.execute(counted))

    def left_alive(self, incarnation: int) -> list[JobRow]:
        """Jobs that earlier schedulers left alive."""
        left = f"SELECT {ROW} FROM jobs WHERE ended_at IS NULL AND saved_by <> ? ORDER BY began_at"
        return _readable(self._connection.execute(left, (incarnation,)))

    def latest_lost(self) -> list[JobRow]:
        """The latest jobs that were lost, oldest first."""
        lost = f"SELECT {ROW} FROM jobs WHERE state = 'lost' ORDER BY ended_at DESC LIMIT ?"
        return _readable(self._connection.execute(lost, (MOST_LOST,)))[::-1]

    def latest_ended(self) -> Sequence[tuple[str, str, str]]:
        """Key, user and state of the latest jobs that ended, oldest first."""
        ended = "SELECT id, user, state FROM jobs WHERE ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT ?"
        return [found for found in self._connection.execute(ended, (MOST_ENDED,)) if found[2] != "lost"][::-1]

    def past_fits(self, most: int) -> list[KeptFit]:
        """What the latest training jobs that are over took, oldest first; bodies that cannot be read are left out."""
        bodies = "SELECT body FROM jobs WHERE ml AND ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT ?"
        found: list[KeptFit] = []
        for (body,) in self._connection.execute(bodies, (most,)):
            with suppress(msgspec.DecodeError):
                if (past := _past(body).past) is not None:
                    found.append(past)
        return found[::-1]

    def retain(self, oldest_at: float, size_mb: float) -> None:
        """Delete jobs that ended before `oldest_at`, and the oldest ones while the file is too large."""
        execute = self._connection.execute
        execute("DELETE FROM jobs WHERE ended_at < ?", (oldest_at,))
        while self._used_mb() > size_mb:
            some = max(execute("SELECT count(*) FROM jobs WHERE ended_at IS NOT NULL").fetchone()[0] // 10, 1)
            oldest = "SELECT id FROM jobs WHERE ended_at IS NOT NULL ORDER BY ended_at LIMIT ?"
            if not execute(f"DELETE FROM jobs WHERE id IN ({oldest})", (some,)).rowcount:
                break
        self._connection.executescript("PRAGMA incremental_vacuum")  # `execute` would free a single page
        execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()  # only now the file itself becomes smaller

    def _prepare(self, file: Path) -> None:
        execute = self._connection.execute
        version = execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION and self._oldest(version) > VERSION:
            raise SlaqError(
                f"{file} was written by a newer SLAQ in format {version}; SLAQ {slaq.__version__} reads formats up to "
                f"{VERSION}: start the newer version, or set another scheduler.state_dir"
            )
        execute("PRAGMA auto_vacuum = INCREMENTAL")
        execute("PRAGMA journal_mode = WAL")
        execute("PRAGMA synchronous = NORMAL")  # a crash of this process loses nothing, one of the host a second
        execute("PRAGMA journal_size_limit = 16777216")
        if version < VERSION:
            self._update()

    def _update(self) -> None:
        """Make the tables, or those of an earlier version into ours."""
        with self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            for earlier in range(version, VERSION) if version else ():
                _MIGRATIONS[earlier](connection)
            for statement in TABLES.split(";"):
                connection.execute(statement)
            connection.execute(KEEP_OLDEST, (OLDEST,))
            connection.execute(f"PRAGMA user_version = {VERSION}")

    def _oldest(self, version: int) -> int:
        """The oldest version that can work with this database of a newer one."""
        try:
            found = self._connection.execute("SELECT value FROM meta WHERE name = 'oldest'").fetchone()
        except sqlite3.OperationalError:  # not a table that we know
            return version
        return found[0] if found else version

    def _used_mb(self) -> float:
        pages, free, size = (
            self._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
        used: float = (pages - free) * size / 1e6
        return used


def _readable(found: Iterable[tuple[Any, ...]]) -> list[JobRow]:
    """The jobs of the columns ROW; one with a body that cannot be read is left out."""
    rows = []
    for columns in found:
        with suppress(msgspec.DecodeError):
            rows.append(to_row(columns))
    return rows


def is_damaged(error: BaseException) -> bool:
    """Whether the file itself is broken; any other error may pass."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED

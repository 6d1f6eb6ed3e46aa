"""The history of jobs in SQLite: one row per job, and the number of the latest scheduler."""

import sqlite3
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from slaq.protocol import JobView
from slaq.scheduler.archive import JobRow

VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY, user TEXT NOT NULL, state TEXT NOT NULL, alive INTEGER NOT NULL,
    began_at REAL NOT NULL, ended_at REAL, view BLOB NOT NULL, body BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ended ON jobs (alive, ended_at);
CREATE INDEX IF NOT EXISTS states ON jobs (alive, user, state, ended_at);
"""
_UPSERT = """
INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET state = excluded.state, alive = excluded.alive, began_at = excluded.began_at,
    ended_at = excluded.ended_at, view = excluded.view, body = excluded.body
"""
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

_encode = msgspec.msgpack.Encoder().encode
_view = msgspec.msgpack.Decoder(JobView)
_row = msgspec.msgpack.Decoder(JobRow)


class Database:
    """One connection; to be used by one thread at a time. Every method may raise sqlite3.Error."""

    def __init__(self, file: Path) -> None:
        _make_private(file)
        self._connection = sqlite3.connect(file, timeout=1.0, isolation_level=None, check_same_thread=False)
        execute = self._connection.execute
        execute("PRAGMA auto_vacuum = INCREMENTAL")
        execute("PRAGMA journal_mode = WAL")
        execute("PRAGMA synchronous = NORMAL")  # a crash of this process loses nothing, one of the host a second
        execute("PRAGMA journal_size_limit = 16777216")
        version = execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, VERSION):
            raise sqlite3.NotSupportedError(f"its format is {version}, this version of SLAQ reads {VERSION}")
        self._connection.executescript(_SCHEMA)
        execute(f"PRAGMA user_version = {VERSION}")

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

    def write(self, rows: Iterable[JobRow]) -> None:
        """Write jobs, all or none."""
        values = [
            (
                row.view.id, row.view.user, row.view.state, row.view.ended_at is None, row.view.began_at,
                row.view.ended_at, _encode(row.view), _encode(row),
            )
            for row in rows
        ]  # fmt: skip
        with self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(_UPSERT, values)

    def load(self, key: str) -> JobRow | None:
        """A job, if it is there."""
        found = self._connection.execute("SELECT body FROM jobs WHERE id = ?", (key,)).fetchone()
        return _row.decode(found[0]) if found else None

    def select(self, user: str | None, states: Collection[str], most: int) -> tuple[list[JobView], int]:
        """The jobs that are no longer alive, newest first, at most so many; and how many there are."""
        where, values = f"alive = 0 AND state IN ({', '.join('?' * len(states))})", tuple(states)
        if user is not None:
            where, values = f"{where} AND user = ?", (*values, user)
        count = self._connection.execute(f"SELECT count(*) FROM jobs WHERE {where}", values).fetchone()[0]
        newest = f"SELECT view FROM jobs WHERE {where} ORDER BY ended_at DESC LIMIT ?"
        found = self._connection.execute(newest, (*values, most))
        return [_view.decode(view) for (view,) in found], count

    def counts(self) -> dict[str, int]:
        """Number of jobs that are no longer alive, by state."""
        return dict(self._connection.execute("SELECT state, count(*) FROM jobs WHERE alive = 0 GROUP BY state"))

    def living(self) -> list[JobRow]:
        """Jobs that are on record as alive."""
        return [_row.decode(body) for (body,) in self._connection.execute("SELECT body FROM jobs WHERE alive = 1")]

    def any_living(self) -> bool:
        """Whether there are jobs on record as alive."""
        return self._connection.execute("SELECT 1 FROM jobs WHERE alive = 1 LIMIT 1").fetchone() is not None

    def retain(self, oldest_at: float, size_mb: float) -> None:
        """Let go of jobs that ended before `oldest_at`, and of the oldest ones while the file is too large."""
        execute = self._connection.execute
        execute("DELETE FROM jobs WHERE alive = 0 AND ended_at < ?", (oldest_at,))
        while self._used_mb() > size_mb:
            some = max(execute("SELECT count(*) FROM jobs WHERE alive = 0").fetchone()[0] // 10, 1)
            oldest = "SELECT id FROM jobs WHERE alive = 0 ORDER BY ended_at LIMIT ?"
            if not execute(f"DELETE FROM jobs WHERE id IN ({oldest})", (some,)).rowcount:
                break
        self._connection.executescript("PRAGMA incremental_vacuum")  # `execute` would free a single page
        execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()  # only now the file itself becomes smaller

    def _used_mb(self) -> float:
        pages, free, size = (
            self._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
        used: float = (pages - free) * size / 1e6
        return used


def _make_private(file: Path) -> None:
    """Everybody's jobs are in there; SQLite gives the files beside it the same rights."""
    with suppress(OSError):  # SQLite will say why
        file.touch(0o600)
        file.chmod(0o600)


def is_damaged(error: sqlite3.Error) -> bool:
    """Whether the file itself is broken, or of another version; anything else may pass."""
    return isinstance(error, sqlite3.NotSupportedError) or getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED


def move_aside(file: Path) -> Path:
    """Make room for a new database; the broken one stays beside it, in place of an earlier one."""
    aside = file.with_name(f"{file.name}.damaged-{int(time.time())}")
    for earlier in file.parent.glob(f"{file.name}.damaged-*"):
        earlier.unlink(missing_ok=True)
    for suffix in ("-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    file.rename(aside)
    return aside

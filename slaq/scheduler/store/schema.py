"""The tables of the history, and jobs as their rows."""

from typing import Any

import msgspec

from slaq.scheduler.store.records import Body, JobRow, Summary

VERSION = 2
"""Kept in the database as `user_version`. Version 1 was written by SLAQ 0.1.0."""

OLDEST = 2
"""The oldest version that can work with such a database, kept in it as well, so that an upgrade can be taken back: a
version that only adds columns with defaults, tables, or fields of a body leaves it as it is."""

TABLES = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY, app TEXT NOT NULL, app_name TEXT NOT NULL, user TEXT NOT NULL, name TEXT NOT NULL,
    estimator TEXT NOT NULL, "group" TEXT NOT NULL, state TEXT NOT NULL, ml INTEGER NOT NULL, weight REAL NOT NULL,
    cores REAL NOT NULL, max_cores REAL, iteration INTEGER, first_loss REAL, loss REAL, normalised_loss REAL,
    diverged INTEGER NOT NULL, target_loss REAL, reports INTEGER NOT NULL, core_s REAL NOT NULL,
    began_at REAL NOT NULL, ended_at REAL, seen_at REAL NOT NULL, reason TEXT NOT NULL,
    saved_by INTEGER NOT NULL, body BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS jobs_ended ON jobs (ended_at);
CREATE INDEX IF NOT EXISTS jobs_of_user ON jobs (user, state, ended_at);
"""
"""`saved_by` is the incarnation of the scheduler that wrote the row."""

KEEP_OLDEST = "INSERT OR REPLACE INTO meta VALUES ('oldest', ?)"

_NAMES = [f'"{name}"' for name in (*Summary.__struct_fields__, "saved_by", "body")]
SUMMARY = ", ".join(_NAMES[:-2])
ROW = f"{SUMMARY}, body"

_CHANGES = ", ".join(f"{name} = excluded.{name}" for name in _NAMES if name not in ('"id"', '"user"'))
UPSERT = f"""
INSERT INTO jobs ({", ".join(_NAMES)}) VALUES ({", ".join("?" * len(_NAMES))})
ON CONFLICT (id) DO UPDATE SET {_CHANGES}
WHERE jobs.user = excluded.user
"""
"""A job never takes the place of another user's."""

_FLAGS = tuple(Summary.__struct_fields__.index(name) for name in ("ml", "diverged"))
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Body).decode


def to_columns(row: JobRow, saved_by: int) -> tuple[Any, ...]:
    """The values that UPSERT takes."""
    return (*msgspec.structs.astuple(row.summary), saved_by, _encode(row.body))


def to_summary(columns: tuple[Any, ...]) -> Summary:
    """The job of the columns SUMMARY."""
    values = list(columns)
    for flag in _FLAGS:
        values[flag] = bool(values[flag])  # SQLite has no booleans
    return Summary(*values)


def to_row(columns: tuple[Any, ...]) -> JobRow:
    """The job of the columns ROW."""
    return JobRow(to_summary(columns[:-1]), _decode(columns[-1]))

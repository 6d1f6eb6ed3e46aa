"""Databases of earlier versions, brought up to date in place and in one transaction.

The structs here are frozen copies of what a version wrote. They never change; a new version adds its own.
"""

import logging
import math
import sqlite3
from struct import iter_unpack, pack
from typing import TypeVar

import msgspec
from msgspec import Struct

from slaq.scheduler.store.curve import Points
from slaq.scheduler.store.records import (
    Body,
    JobRow,
    KeptDeclaration,
    KeptExplanation,
    KeptHistory,
    KeptPrediction,
    Summary,
)
from slaq.scheduler.store.schema import TABLES, UPSERT, to_columns

log = logging.getLogger(__name__)
T = TypeVar("T")


class _View1(Struct, frozen=True):
    id: str
    app: str
    app_name: str
    user: str
    name: str
    estimator: str
    state: str
    ml: bool
    weight: float
    cores: float
    max_cores: float | None
    iteration: int | None
    first_loss: float | None
    loss: float | None
    normalised_loss: float | None
    diverged: bool
    target_loss: float | None
    reports: int
    core_s: float
    began_at: float
    ended_at: float | None
    seen_at: float
    reason: str


class _Declaration1(Struct, frozen=True):
    name: str = ""
    estimator: str = ""
    ml: bool = True
    weight: float = 1.0
    max_cores: float | None = None
    reserved_cores: float = 0.0
    target_loss: float | None = None
    max_iterations: int | None = None
    began_at: float = 0.0


class _Points1(Struct, frozen=True):
    width: int
    packed: bytes = b""
    stride: int = 1
    seen: int = 0
    latest: tuple[float, ...] = ()


class _Explanation1(Struct, frozen=True):
    sentence: str
    rule: str
    policy: str
    epoch: int
    cores: float
    next_gain: float
    cutoff: float
    floor: float
    cap: float
    weight: float
    reserved_cores: float
    waited: int


class _Prediction1(Struct, frozen=True):
    loss: float | None
    iterations: float | None
    mean_error: float | None
    judged: int
    last_expected: float | None
    last_reported: float | None


class _History1(Struct, frozen=True):
    packed_losses: bytes
    packed_iterations: bytes
    packed_costs: bytes
    """(wall_s, cpu_s, cores, size) of the latest iterations."""
    even: bool
    latest_iteration: int
    latest_loss: float
    first_loss: float
    largest_delta: float
    movement: float
    diverged: bool
    ignored: int


class _Row1(Struct, frozen=True):
    view: _View1
    declared: _Declaration1
    losses: _Points1
    cores: _Points1
    received: int
    weight: float | None
    held: bool
    cancel: bool
    explanation: _Explanation1 | None
    prediction: _Prediction1 | None
    history: _History1 | None


_row1 = msgspec.msgpack.Decoder(_Row1)


def from_1(connection: sqlite3.Connection) -> None:
    """Version 1 kept a job as two blobs of messages; a row that cannot be read stays in the table `jobs_1`."""
    for index in ("ended", "states"):
        connection.execute(f"DROP INDEX IF EXISTS {index}")
    connection.execute("ALTER TABLE jobs RENAME TO jobs_1")
    for statement in TABLES.split(";"):
        connection.execute(statement)
    for key, body in connection.execute("SELECT id, body FROM jobs_1").fetchall():
        try:
            row = _from_1(_row1.decode(body))
        except msgspec.DecodeError as error:
            log.warning("job %s of the earlier history cannot be read and stays in the table jobs_1: %s", key, error)
            continue
        connection.execute(UPSERT, to_columns(row, saved_by=0))
        connection.execute("DELETE FROM jobs_1 WHERE id = ?", (key,))
    if connection.execute("SELECT 1 FROM jobs_1").fetchone() is None:
        connection.execute("DROP TABLE jobs_1")


def _from_1(row: _Row1) -> JobRow:
    return JobRow(
        Summary(**{"group": "", **msgspec.structs.asdict(row.view)}),
        Body(
            declared=_same(row.declared, KeptDeclaration),
            losses=_same(row.losses, Points),
            cores=_same(row.cores, Points),
            received=row.received,
            own_weight=row.weight,
            held=row.held,
            cancel=row.cancel,
            explanation=None if row.explanation is None else _same(row.explanation, KeptExplanation),
            prediction=None if row.prediction is None else _same(row.prediction, KeptPrediction),
            history=None if row.history is None else _history_from_1(row.history),
        ),
    )


def _history_from_1(history: _History1) -> KeptHistory:
    costs = b"".join(pack("=2d", *_cost_from_1(*cost)) for cost in iter_unpack("=4d", history.packed_costs))
    return KeptHistory(**{**msgspec.structs.asdict(history), "packed_costs": costs})


def _cost_from_1(wall_s: float, cpu_s: float, cores: float, size: float) -> tuple[float, float]:
    """(work_core_s, serial_s): the serial part is what is left of the time once the work on these cores is taken off.

    Where the work was not known, all of the held cores' time counts as work.
    """
    del size  # nobody reported it
    work_core_s = wall_s * cores if math.isnan(cpu_s) else cpu_s
    serial_s = max(wall_s - cpu_s / cores, 0.0) if cores > 0.0 and not math.isnan(wall_s - cpu_s) else math.nan
    return work_core_s, serial_s


def _same(found: Struct, kind: type[T]) -> T:
    """The fields of one record in another that has the same ones."""
    return msgspec.convert(found, kind, from_attributes=True)

"""Recordings: what a scheduler went through, epoch by epoch, and the workload that lies behind it.

A recording has the form of a scheduler's decision log, and every decision log is a recording: pieces of compressed
msgpack, each behind its length, first the engine's state, then the events and effects of one epoch after the other.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import msgspec
import numpy as np

from slaq.engine import Allocated, Effect, Event, JobJoined, JobReported, JobSeen, State
from slaq.errors import SlaqError
from slaq.model import History, Job
from slaq.sim.workload import Workload

_LARGEST = 1 << 30


class Epoch(msgspec.Struct, frozen=True, array_like=True):
    """What happened in an epoch, and what was decided at its end."""

    events: Sequence[Event]
    effects: Sequence[Effect]


@dataclass(frozen=True, slots=True)
class Recording:
    """The state that things began with, and every epoch since."""

    state: State
    epochs: Sequence[Epoch]


def write(path: Path, recording: Recording) -> None:
    """Write a recording."""
    with path.open("wb") as file:
        for piece in (recording.state, *recording.epochs):
            packed = zlib.compress(msgspec.msgpack.encode(piece), 1)
            file.write(len(packed).to_bytes(4, "big") + packed)


def read(path: Path) -> Recording:
    """The whole of a recording, or of a decision log; for a folder of logs, all that its latest scheduler wrote."""
    parts = [_read_file(file) for file in (_logs(path) if path.is_dir() else [path])]
    return Recording(parts[0].state, [epoch for part in parts for epoch in part.epochs])


def _logs(folder: Path) -> list[Path]:
    """The logs `decisions-<life>-<part>.log` of the scheduler's latest life, in order."""
    named = {tuple(map(int, file.stem.split("-")[1:3])): file for file in folder.glob("decisions-*-*.log")}
    if not named:
        raise SlaqError(f"there is no decision log in {folder}; give the data folder of a scheduler, or a log file")
    latest = max(named)[0]
    return [named[key] for key in sorted(named) if key[0] == latest]


def _read_file(path: Path) -> Recording:
    epoch = msgspec.msgpack.Decoder(Epoch)
    try:
        with path.open("rb") as file:
            pieces = _pieces(file)
            state = msgspec.msgpack.decode(next(pieces, b""), type=State)
            return Recording(state, [epoch.decode(piece) for piece in pieces])
    except (OSError, zlib.error, msgspec.DecodeError) as error:
        raise SlaqError(f"{path} is no recording ({error}); make one with `slaq trace record`") from error


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while True:
        length = int.from_bytes(file.read(4), "big")
        if not 0 < length < _LARGEST:
            return
        packed = file.read(length)
        if len(packed) < length:
            return  # cut off: what came before is whole
        yield zlib.decompress(packed)


@dataclass(slots=True)
class _Life:
    """One job, as far as a recording shows it."""

    job: Job
    joined_s: float
    history: History
    losses: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)
    held_core_s: float = 0.0
    cores: float = 0.0


def workload_of(recording: Recording) -> Workload:
    """The jobs of a recording, to be run again: when they came, their losses, and what their iterations cost.

    The work of an iteration is its CPU time where that was reported, the core-seconds held otherwise. A job ends
    where the recording shows its last iteration; a job without a loss does the work that it was seen to do.
    """
    state = recording.state
    lives = {job.id: _Life(job, state.now_s, job.history) for job in state.jobs.values()}
    decided_s = state.now_s
    for epoch in recording.epochs:
        for event in epoch.events:
            _take(lives, event)
        ended_s = max((event.now_s for event in epoch.events), default=decided_s)
        decided = _decided(epoch.effects)
        for life in lives.values():
            life.held_core_s += life.cores * max(ended_s - decided_s, 0.0)
            life.cores = decided.get(life.job.id, 0.0)
        decided_s = ended_s
    useful = [life for life in lives.values() if (len(life.losses) > 1 if life.job.ml else life.held_core_s > 0.0)]
    if not useful:
        raise SlaqError(
            "the recording shows no job that reported two losses, nor other work; there is nothing to replay"
        )
    return _workload(sorted(useful, key=lambda life: life.joined_s))


def _decided(effects: Iterable[Effect]) -> dict[str, float]:
    return next((effect.decision.cores for effect in effects if isinstance(effect, Allocated)), {})


def _take(lives: dict[str, _Life], event: Event) -> None:
    match event:
        case JobJoined(now_s=now_s, job=job) if job.id not in lives:
            lives[job.id] = _Life(job, now_s, History())
        case JobReported(job_id=job_id, reports=reports) if job_id in lives:
            life = lives[job_id]
            for report in reports:
                before = life.history
                life.history = before.add(report)
                is_new = not len(before) or life.history.latest_iteration > before.latest_iteration
                if is_new and life.history.ignored == before.ignored:
                    life.losses.append(report.loss)
                    life.cpu_s.append(report.cpu_s)
        case JobSeen(job_id=job_id, max_cores=max_cores) if job_id in lives and max_cores is not None:
            lives[job_id].job = msgspec.structs.replace(lives[job_id].job, max_cores=max_cores)
        case _:
            pass


def _workload(lives: Sequence[_Life]) -> Workload:
    count = len(lives)
    length = np.array([max(len(life.losses) - 1, 1) for life in lives])
    losses = np.zeros((count, int(length.max()) + 1))
    cost = np.tile(np.arange(losses.shape[1], dtype=np.float64), (count, 1))
    work = np.empty(count)
    for row, life in enumerate(lives):
        steps = length[row]
        if life.job.ml:
            losses[row] = [*life.losses, *[life.losses[-1]] * (losses.shape[1] - len(life.losses))]
        seconds = np.array(life.cpu_s[1 : steps + 1])
        known = len(seconds) == steps and bool((seconds > 0.0).all())
        work[row] = seconds.mean() if known else max(life.held_core_s, 1e-3) / steps
        if known:
            cost[row, 1 : steps + 1] = np.cumsum(seconds / seconds.mean())
            cost[row, steps + 1 :] = cost[row, steps] + np.arange(1.0, losses.shape[1] - steps)
    begun_s = min(life.joined_s for life in lives)
    return Workload(
        names=tuple(life.job.id for life in lives),
        arrival_s=np.array([life.joined_s - begun_s for life in lives]),
        losses=losses,
        reported=losses,
        cost=cost,
        length=length,
        limit=np.array([life.job.max_iterations or 0 for life in lives]),
        finishes=np.ones(count, dtype=bool),
        ml=np.array([life.job.ml for life in lives]),
        work_core_s=work,
        serial_s=np.zeros(count),
        cap=np.array([life.job.max_cores for life in lives]),
        weight=np.array([life.job.weight for life in lives]),
        algorithm=tuple("recorded" for _ in lives),
    )

"""Recordings: what a scheduler went through, epoch by epoch, and the workload behind it.

A recording is a decision log (`slaq.engine.log`): one that a scheduler wrote, or one written here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from slaq.engine import Allocated, Effect, Event, JobJoined, JobReported, State, log
from slaq.engine.log import Epoch
from slaq.errors import SlaqError
from slaq.model import EMPTY_HISTORY, History, Job, Report
from slaq.sim.workload import Workload


@dataclass(frozen=True, slots=True)
class Recording:
    """The state of the engine at the beginning, and every epoch since."""

    state: State
    epochs: Sequence[Epoch]


def write(path: Path, recording: Recording) -> None:
    """Write a recording as one decision log."""
    with path.open("wb") as file:
        file.write(log.first_pieces(recording.state))
        for epoch in recording.epochs:
            file.write(log.epoch_piece(epoch))


def read(path: Path) -> Recording:
    """A whole decision log; of a scheduler's data folder, all logs of its latest life."""
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
    try:
        with path.open("rb") as file:
            state, epochs = log.read(file, str(path))
            return Recording(state, list(epochs))
    except OSError as error:
        raise SlaqError(f"cannot read {path}: {error}") from error


@dataclass(slots=True)
class _Seen:
    """One job, as far as a recording shows it."""

    job: Job
    joined_s: float
    history: History
    reports: list[Report] = field(default_factory=list)
    """Its losses in order; reports of no use are left out."""
    granted_core_s: float = 0.0
    cores: float = 0.0


def workload_of(recording: Recording) -> Workload:
    """The jobs of a recording, to be run again: when they came, their losses, and what their iterations cost.

    The work of an iteration is what was reported, or an even share of the core-seconds granted where some report has
    no cost. A job ends with the last iteration in the recording; a job without a loss does the work it was seen to do.
    """
    state = recording.state
    seen = {job.id: _Seen(job, state.now_s, job.history) for job in state.jobs.values()}
    decided_s = state.now_s
    for epoch in recording.epochs:
        for event in epoch.events:
            _take(seen, event)
        ended_s = max((event.now_s for event in epoch.events), default=decided_s)
        decided = _decided(epoch.effects)
        for one in seen.values():
            one.granted_core_s += one.cores * max(ended_s - decided_s, 0.0)
            one.cores = decided.get(one.job.id, 0.0)
        decided_s = ended_s
    useful = [one for one in seen.values() if (len(one.reports) > 1 if one.job.ml else one.granted_core_s > 0.0)]
    if not useful:
        raise SlaqError("no job in the recording reported two losses, and there was no other work: nothing to replay")
    return _workload(sorted(useful, key=lambda one: one.joined_s))


def _decided(effects: Iterable[Effect]) -> dict[str, float]:
    return next((effect.decision.cores for effect in effects if isinstance(effect, Allocated)), {})


def _take(seen: dict[str, _Seen], event: Event) -> None:
    match event:
        case JobJoined(now_s=now_s, job=job) if job.id not in seen:
            seen[job.id] = _Seen(job, now_s, job.history)
        case JobReported(job_id=job_id, reports=reports) if job_id in seen:
            one = seen[job_id]
            for report in reports:
                before = one.history
                one.history = before.add(report)
                is_new = not len(before) or one.history.latest_iteration > before.latest_iteration
                if is_new and one.history.ignored == before.ignored:
                    one.reports.append(report)
        case _:
            pass


def _workload(seen: Sequence[_Seen]) -> Workload:
    count = len(seen)
    length = np.array([max(len(one.reports) - 1, 1) for one in seen])
    losses = np.zeros((count, int(length.max()) + 1))
    cost = np.tile(np.arange(losses.shape[1], dtype=np.float64), (count, 1))
    work, serial = np.empty(count), np.zeros(count)
    for row, one in enumerate(seen):
        steps = int(length[row])
        if one.job.ml:
            known = [report.loss for report in one.reports]
            losses[row] = [*known, *[known[-1]] * (losses.shape[1] - len(known))]
        each = _work_of(one.reports[1:])
        work[row] = max(one.granted_core_s, 1e-3) / steps if each is None else each.mean()
        if each is not None:
            serial[row] = np.mean([report.serial_s or 0.0 for report in one.reports[1:]])
            cost[row, 1 : steps + 1] = np.cumsum(each / each.mean())
            cost[row, steps + 1 :] = cost[row, steps] + np.arange(1.0, losses.shape[1] - steps)
    begun_s = min(one.joined_s for one in seen)
    return Workload(
        declared=tuple(_declared(one.job) for one in seen),
        arrival_s=np.array([one.joined_s - begun_s for one in seen]),
        losses=losses,
        reported=losses,
        cost=cost,
        length=length,
        finishes=np.ones(count, dtype=bool),
        work_core_s=work,
        serial_s=serial,
        algorithm=tuple(one.job.estimator or "recorded" for one in seen),
    )


def _work_of(reports: Sequence[Report]) -> np.ndarray | None:
    """The work of every iteration; None if one is not known."""
    work = np.array([report.work_core_s or 0.0 for report in reports])
    return work if len(work) and bool((work > 0.0).all()) else None


def _declared(job: Job) -> Job:
    """The job as it joins again: it has reported nothing yet."""
    return replace(job, history=EMPTY_HISTORY)

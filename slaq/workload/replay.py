"""A stream that ran, as scripts for the simulator: what it did, without what it waited for."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from slaq.errors import SlaqError
from slaq.sim.curves import estimator_of
from slaq.sim.script import Script, script
from slaq.sim.streams import Stream
from slaq.workload.results import Stage, StreamRun, Trained


def replayable(run: StreamRun) -> bool:
    """Whether every job's stages and losses were recorded."""
    recorded = {stage.job for stage in run.stages}
    return bool(run.jobs) and all(job.losses and job.name in recorded and not job.error for job in run.jobs)


def stream_of(run: StreamRun) -> Stream:
    """What the simulator needs of a run, its jobs in order of arrival."""
    if not replayable(run):
        raise SlaqError(f"the run under {run.policy!r} has jobs whose stages or losses were not recorded")
    stages: dict[str, list[Stage]] = {}
    if any(len(job.times_s) != len(job.losses) for job in run.jobs):
        raise SlaqError(f"the run under {run.policy!r} has jobs without a time for each loss; record it again")
    for stage in run.stages:
        if not 0 < len(stage.launched_s) == len(stage.finished_s):
            raise SlaqError(f"a stage of job {stage.job!r} has no tasks, or tasks without an end; record the run again")
        stages.setdefault(stage.job, []).append(stage)
    jobs = sorted(run.jobs, key=lambda job: job.arrived_s)
    return Stream(tuple(_script(job, stages[job.name]) for job in jobs), run.cores, handover_s(run))


def saved_runs(path: Path) -> list[StreamRun]:
    """The runs that `slaq bench cluster --save` wrote."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[StreamRun])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SlaqError(f"{path} is not a file of `slaq bench cluster --save`: {error}") from None


def handover_s(run: StreamRun) -> float:
    """What a slot stood idle before a task, on average, although tasks waited.

    Negative where the next task starts before the end of the last is on record: Spark frees the slot first.
    """
    changes = sorted(
        change
        for stage in run.stages
        for change in (
            (stage.submitted_s, 0, len(stage.launched_s)),
            *((at_s, 1, -1) for at_s in stage.launched_s),
            *((at_s, -1, 0) for at_s in stage.finished_s),
        )
    )
    table = np.array(changes)
    running, waiting = table[:, 1].cumsum()[:-1], table[:, 2].cumsum()[:-1]
    idle = np.minimum(run.cores - running, np.maximum(waiting, 0.0))
    launches = sum(len(stage.launched_s) for stage in run.stages)
    return float((idle * np.diff(table[:, 0])).sum() / max(launches, 1))


def _script(job: Trained, stages: Sequence[Stage]) -> Script:
    return script(
        job.name,
        job.arrived_s,
        job.ended_s,
        [(stage.submitted_s, stage.launched_s, stage.finished_s) for stage in stages],
        list(zip(job.times_s, job.losses, strict=True)),
        job.pool,
        estimator_of(job.algorithm),
        job.max_iterations,
    )

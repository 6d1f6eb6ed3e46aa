"""What the simulator says of a stream that ran: same arrivals, same curves, the work that was measured."""

import numpy as np

from slaq.errors import SlaqError
from slaq.sim.compare import Comparison, run_one
from slaq.sim.metrics import Outcome, outcome
from slaq.sim.workload import Setting, Workload
from slaq.workload.results import StreamRun


def foreseen(run: StreamRun, policy: str, epoch_s: float) -> Outcome:
    """The stream under a policy of the simulator."""
    setting = Setting(cores=run.cores, epoch_s=epoch_s)
    return outcome(run_one(Comparison((policy,), setting, replayed=as_workload(run)), policy, 0))


def work_known(run: StreamRun) -> bool:
    """Whether every job's work was measured: only SLAQ's own runs tell, and not of a job that was over in no time."""
    held = {sample.job for sample in run.samples if sample.held_core_s > 0.0}
    return bool(run.jobs) and all(job.losses and job.name in held for job in run.jobs)


def as_workload(run: StreamRun) -> Workload:
    """A stream as the simulator knows it: all iterations of a job take the same work, and cores never rest.

    The first loss is known after an iteration's worth of work; until then a job has reported none.
    """
    held = {sample.job: sample.held_core_s for sample in run.samples}
    jobs = sorted(run.jobs, key=lambda job: job.arrived_s)
    if not work_known(run):
        raise SlaqError(f"the run under {run.policy!r} does not tell the work of its jobs; take one of SLAQ's")
    count = len(jobs)
    length = np.array([len(job.losses) for job in jobs])
    losses = np.array(
        [[job.losses[0], *job.losses, *[job.losses[-1]] * (length.max() - len(job.losses))] for job in jobs]
    )
    return Workload(
        names=tuple(job.name for job in jobs),
        arrival_s=np.array([job.arrived_s for job in jobs]),
        losses=losses,
        reported=np.hstack([np.full((count, 1), np.nan), losses[:, 1:]]),
        cost=np.tile(np.arange(losses.shape[1], dtype=np.float64), (count, 1)),
        length=length,
        limit=length,
        finishes=np.ones(count, dtype=bool),
        ml=np.ones(count, dtype=bool),
        work_core_s=np.array([held[job.name] for job in jobs]) / length,
        serial_s=np.zeros(count),
        cap=np.full(count, float(run.cores)),
        weight=np.ones(count),
        algorithm=tuple(job.algorithm for job in jobs),
    )

"""A stream that ran, simulated: the same arrivals and curves, and the work that was measured."""

import numpy as np

from slaq.errors import SlaqError
from slaq.model import Job
from slaq.sim.compare import Comparison, run_one
from slaq.sim.curves import estimator_of
from slaq.sim.metrics import Outcome, outcome
from slaq.sim.workload import Setting, Workload
from slaq.workload.results import StreamRun


def foreseen(run: StreamRun, policy: str, epoch_s: float) -> Outcome:
    """The stream under a policy of the simulator."""
    setting = Setting(cores=run.cores, epoch_s=epoch_s)
    return outcome(run_one(Comparison((policy,), setting, replayed=as_workload(run)), policy, 0))


def work_known(run: StreamRun) -> bool:
    """Whether every job's work was measured: only runs under SLAQ have samples, and a very short job may have none."""
    held = {sample.job for sample in run.samples if sample.held_core_s > 0.0}
    return bool(run.jobs) and all(job.losses and job.name in held for job in run.jobs)


def as_workload(run: StreamRun) -> Workload:
    """The stream as a workload: all iterations of a job take the same work, and no core is ever idle.

    The first loss is known after an iteration's worth of work; until then a job has reported none.
    """
    held = {sample.job: sample.held_core_s for sample in run.samples}
    jobs = sorted(run.jobs, key=lambda job: job.arrived_s)
    if not work_known(run):
        raise SlaqError(f"the run under {run.policy!r} has no samples of the work of its jobs; take a run under SLAQ")
    count = len(jobs)
    length = np.array([len(job.losses) for job in jobs])
    losses = np.array(
        [[job.losses[0], *job.losses, *[job.losses[-1]] * (length.max() - len(job.losses))] for job in jobs]
    )
    return Workload(
        declared=tuple(
            Job(
                job.name,
                max_cores=float(run.cores),
                max_iterations=len(job.losses),
                estimator=estimator_of(job.algorithm),
            )
            for job in jobs
        ),
        arrival_s=np.array([job.arrived_s for job in jobs]),
        losses=losses,
        reported=np.hstack([np.full((count, 1), np.nan), losses[:, 1:]]),
        cost=np.tile(np.arange(losses.shape[1], dtype=np.float64), (count, 1)),
        length=length,
        finishes=np.ones(count, dtype=bool),
        work_core_s=np.array([held[job.name] for job in jobs]) / length,
        serial_s=np.zeros(count),
        algorithm=tuple(job.algorithm for job in jobs),
    )

"""Short trials that arrive among best-effort fits, on real Spark: declared as trials, not declared, and Spark's FAIR.

A trial's start is its first task after its arrival. What is not declared shows what the policy does on its own.
"""

import math
import sys
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean

import click
import numpy as np
from msgspec.structs import replace

from slaq.bench._comparison import Setting, alternate
from slaq.bench._output import cores_option, emit, format_option
from slaq.records import NO_WISH, Wish
from slaq.workload import measures
from slaq.workload.results import StreamRun
from slaq.workload.stream import Planned, poisson

TRIAL = "trial-"
TRIAL_LENGTH = 0.25
"""Of the iterations of a best-effort fit: a look at whether something works."""
DECLARED, UNDECLARED, FAIR = "slaq, declared", "slaq, not declared", "spark-fair"


@click.command(help=__doc__)
@click.option("--jobs", default=9, show_default=True, type=click.IntRange(min=1), help="Best-effort fits.")
@click.option("--trials", default=8, show_default=True, type=click.IntRange(min=1), help="Trials among them.")
@click.option("--gap", "gap_s", default=6.0, show_default=True, help="Mean seconds between best-effort fits.")
@click.option("--length", default=1.0, show_default=True, help="Multiplies every fit's iterations.")
@click.option("--rows", default=1.0, show_default=True, help="Multiplies the rows of the generated data.")
@click.option("--policy", default="finish-line", show_default=True, help="SLAQ's policy, behind the trials.")
@click.option("--seed", default=1, show_default=True, help="Another seed, another stream.")
@cores_option
@format_option
def command(
    jobs: int,
    trials: int,
    gap_s: float,
    length: float,
    rows: float,
    policy: str,
    seed: int,
    cores: int,
    output_format: str,
) -> None:
    stream = mixed(jobs, trials, gap_s, length, seed)
    short = mixed(jobs, trials, gap_s / 3.0, length / 3.0, seed)
    setting, own = Setting(cores=cores, rows=rows), f"slaq:{policy}"

    def tell(text: str) -> None:
        click.echo(text, err=True)

    undeclared = tuple(replace(job, wish=NO_WISH) for job in stream)
    runs = [
        # The JVM compiles for minutes, which favours later runs: the first round does not count.
        *(
            replace(run, policy=_shown(run.policy))
            for run in alternate(setting, [own, FAIR], [short, stream], length, tell)
            if run.round
        ),
        *(replace(run, policy=UNDECLARED) for run in alternate(setting, [own], [undeclared], 0.0, tell)),
    ]
    if failures := [f"failed: {run.policy} {job.name}: {job.error}" for run in runs for job in run.jobs if job.error]:
        click.echo("\n".join(failures))
        sys.exit(1)
    base = next(run for run in runs if run.policy == FAIR)
    found = [judged(run, base) for run in runs]
    facts = {"jobs": jobs, "trials": trials, "gap_s": gap_s, "length": length, "seed": seed, "runs": found}
    emit(output_format, facts, f"{trials} trials among {jobs} fits on {cores} cores, one run each", _rows(found))


def mixed(jobs: int, trials: int, gap_s: float, length: float, seed: int) -> tuple[Planned, ...]:
    """Best-effort fits, and trials evenly over the time in which those arrive, off their first moment."""
    fits = poisson(jobs, gap_s, seed, length)
    last_s = fits[-1].arrival_s
    short = poisson(trials, 0.0, seed + 1000, length * TRIAL_LENGTH)
    placed = [
        replace(job, name=TRIAL + job.name, arrival_s=(number + 0.7) / trials * last_s, wish=Wish(kind="te"))
        for number, job in enumerate(short)
    ]
    return tuple(sorted((*fits, *placed), key=lambda job: job.arrival_s))


def judged(run: StreamRun, base: StreamRun) -> dict[str, object]:
    """One run in numbers."""
    tried, effort = _part(run, trials=True), _part(run, trials=False)
    delays = [_first_task_s(run, job.name) - job.arrived_s for job in tried.jobs]
    waits = [_first_wait_s(run, job.name) for job in tried.jobs]
    tasks = [end - start for stage in run.stages for start, end in zip(stage.launched_s, stage.finished_s, strict=True)]
    return {
        "policy": run.policy,
        "trial: s to its first task, p95": float(np.quantile(delays, 0.95)),
        "trial: s its first stage waits, p95": float(np.quantile(waits, 0.95)),
        "longest task, s": max(tasks, default=math.nan),
        "trial: s to its end, mean": measures.mean_completion(tried),
        "trial: s to its end, most": max(job.ended_s - job.arrived_s for job in tried.jobs),
        "best effort: s to its end, mean": measures.mean_completion(effort),
        "best effort: s until all have ended": max(job.ended_s for job in effort.jobs),
        "best effort: times stopped, mean": fmean(_stops(run, job.name) for job in effort.jobs),
        "best effort: times stopped, most": max(_stops(run, job.name) for job in effort.jobs),
        "best-effort models differ by": measures.model_difference(_part(base, trials=False), effort),
        "trial models differ by": measures.model_difference(_part(base, trials=True), tried),
    }


def _rows(found: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    """One line per measure, one column per run."""
    return [{"": name, **{str(run["policy"]): run[name] for run in found}} for name in found[0] if name != "policy"]


def _shown(policy: str) -> str:
    return policy if policy == FAIR else DECLARED


def _part(run: StreamRun, trials: bool) -> StreamRun:
    return replace(run, jobs=tuple(job for job in run.jobs if job.name.startswith(TRIAL) == trials))


def _first_task_s(run: StreamRun, name: str) -> float:
    return min((stage.launched_s[0] for stage in run.stages if stage.job == name), default=math.nan)


def _first_wait_s(run: StreamRun, name: str) -> float:
    first = min((stage for stage in run.stages if stage.job == name), key=lambda stage: stage.submitted_s)
    return first.launched_s[0] - first.submitted_s


def _stops(run: StreamRun, name: str) -> int:
    """How often its granted cores fell to none."""
    granted = [sample.cores for sample in run.samples if sample.job == name]
    return sum(before != 0.0 and after == 0.0 for before, after in pairwise(granted))

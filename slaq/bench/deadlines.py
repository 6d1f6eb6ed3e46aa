"""Jobs with deadlines on real Spark, under OASiS and under policies that know of none: what their ends were worth.

Arrivals, algorithms and utilities are drawn as in the testbed of the OASiS paper: within nine slots of ten, 35 %
time-critical, 55 % time-sensitive, 10 % insensitive, worth 1 to 100, targets of 1 to 10 slots after the arrival.
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import click
import numpy as np
from msgspec.structs import replace

from slaq.bench._comparison import Setting, alternate
from slaq.bench._output import cores_option, emit, format_option
from slaq.config.keys import CONF_VARIABLE
from slaq.oasis import Utility
from slaq.records import Wish
from slaq.workload.results import StreamRun
from slaq.workload.stream import Planned, poisson

POLICIES = ("slaq:oasis", "slaq:finish-line", "spark-fair", "spark-fifo")
ARRIVE_WITHIN = 9.0
"""Slots."""


@click.command(help=__doc__)
@click.option("--jobs", default=12, show_default=True, type=click.IntRange(min=1), help="Jobs in the stream.")
@click.option("--slot", "slot_s", default=3.0, show_default=True, help="Seconds of a slot.")
@click.option("--length", default=1.0, show_default=True, help="Multiplies every job's iterations.")
@click.option("--rows", default=1.0, show_default=True, help="Multiplies the rows of the generated data.")
@click.option("--seed", default=1, show_default=True, help="Another seed, another stream.")
@cores_option
@click.option("--policies", default=",".join(POLICIES), show_default=True, help="Comma-separated.")
@format_option
def command(
    jobs: int,
    slot_s: float,
    length: float,
    rows: float,
    seed: int,
    cores: int,
    policies: str,
    output_format: str,
) -> None:
    names = [name.strip() for name in policies.split(",")]
    stream = due(jobs, slot_s, length, seed)
    setting = Setting(cores=cores, rows=rows)
    with planning_in(slot_s / 3.0):
        runs = list(alternate(setting, names, [stream], length, lambda text: click.echo(text, err=True)))
    found = [judged(run, stream) for run in runs]
    facts = {"jobs": jobs, "slot_s": slot_s, "length": length, "seed": seed, "cores": cores, "runs": found}
    emit(output_format, facts, f"{jobs} jobs with utilities on {cores} cores, one run each", found)
    failures = [f"{run.policy} {job.name}: {job.error}" for run in runs for job in run.jobs if job.error]
    click.echo("\n".join(f"failed: {failure}" for failure in failures), nl=bool(failures))
    if failures:
        sys.exit(1)


def due(count: int, slot_s: float, length: float, seed: int) -> tuple[Planned, ...]:
    """The stream, whose jobs say what their ends are worth."""
    random = np.random.default_rng(seed)
    arrivals = np.sort(random.uniform(0.0, ARRIVE_WITHIN * slot_s, count))
    drawn = []
    for planned, at_s in zip(poisson(count, 0.0, seed, length), arrivals - arrivals[0], strict=True):
        kind = random.choice(3, p=(0.35, 0.55, 0.10))
        urgency = (random.uniform(4.0, 6.0), random.uniform(0.01, 1.0), 0.0)[kind] / slot_s
        worth, target_s = float(random.uniform(1.0, 100.0)), float(random.uniform(1.0, 10.0)) * slot_s
        wish = Wish(utility=(worth, float(urgency), target_s))
        drawn.append(replace(planned, arrival_s=float(at_s), wish=wish))
    return tuple(drawn)


def judged(run: StreamRun, stream: Sequence[Planned]) -> dict[str, object]:
    """What the ends of a run were worth, and how late they were."""
    worth, most, late = 0.0, 0.0, []
    for job, planned in zip(run.jobs, stream, strict=True):
        assert isinstance(planned.wish.utility, tuple)
        utility = Utility(*planned.wish.utility)
        took_s = job.ended_s - job.arrived_s
        if job.error is None:
            worth += float(utility.at(np.array([took_s]))[0])
        most += float(utility.at(np.zeros(1))[0])
        late.append(took_s - utility.target)
    return {
        "policy": run.policy,
        "utility": worth,
        "of": most,
        "by their target": sum(each <= 0.0 for each in late),
        "median s late": median(late),
        "mean s to the end": sum(job.ended_s - job.arrived_s for job in run.jobs) / len(run.jobs),
        "whole stream s": run.makespan_s,
    }


@contextmanager
def planning_in(slot_s: float) -> Iterator[None]:
    """Plans in slots of this length: the default is for jobs that take minutes."""
    before = os.environ.get(CONF_VARIABLE)
    with tempfile.TemporaryDirectory(prefix="slaq-bench-") as folder:
        file = Path(folder, "slaq.toml")
        file.write_text(f"[tuning]\nplan_slot_s = {slot_s!r}\n")
        os.environ[CONF_VARIABLE] = str(file)
        try:
            yield
        finally:
            del os.environ[CONF_VARIABLE]
            if before is not None:
                os.environ[CONF_VARIABLE] = before

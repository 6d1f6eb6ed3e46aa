"""Real MLlib training jobs getting good sooner: a stream of them with SLAQ, then the same under Spark's FAIR pools.

Shows the jobs, their losses and the cores moving between them, prints the comparison, and writes an HTML page.
"""

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from slaq.bench._comparison import Setting, alternate, summarise
from slaq.bench._output import cores_option
from slaq.cli._demo_view import DemoView
from slaq.errors import SlaqError
from slaq.workload.measures import time_to
from slaq.workload.page import page
from slaq.workload.results import StreamRun
from slaq.workload.stream import poisson

WARM_LENGTH = 0.3
"""Enough to have most of the code compiled, short enough to wait for."""


@click.command(help=__doc__)
@click.option("--jobs", default=9, show_default=True, type=click.IntRange(min=1), help="Jobs in the stream.")
@click.option("--gap", "gap_s", default=1.5, show_default=True, help="Mean seconds between arrivals.")
@click.option("--length", default=0.6, show_default=True, help="Multiplies every job's iterations.")
@click.option("--rows", default=0.5, show_default=True, help="Multiplies the rows of the generated data.")
@click.option("--seed", default=1, show_default=True, help="Another seed, another stream.")
@cores_option
@click.option(
    "--data", type=click.Path(exists=True, file_okay=False), help="Folder of real data (parquet, libsvm, csv)."
)
@click.option("--compare/--no-compare", default=True, show_default=True, help="Run the stream under Spark's FAIR too.")
@click.option(
    "--page",
    "page_path",
    default="slaq-demo.html",
    show_default=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="HTML file to write: losses over time, and the cores of every job.",
)
def command(
    jobs: int,
    gap_s: float,
    length: float,
    rows: float,
    seed: int,
    cores: int,
    data: str | None,
    compare: bool,
    page_path: Path,
) -> None:
    console = Console()
    console.print(f"SLAQ: {jobs} training jobs share {cores} cores. Starting Spark …")
    policies = ["slaq", "spark-fair"] if compare else ["slaq"]
    stream = poisson(jobs, gap_s, seed, length)
    with DemoView(console, stream, cores) as view:
        setting = Setting(cores=cores, rows=rows, data=data)
        runs = list(alternate(setting, policies, [stream], WARM_LENGTH, view.tell, view.live))
    for run in runs:
        for job in run.jobs:
            if job.error:
                console.print(f"[red]{run.policy} {job.name} failed: {job.error}")
    if compare:
        console.print(comparison(runs))
    facts = findings(runs)
    for fact in facts:
        console.print(fact)
    page_path.write_text(page(runs, f"SLAQ: {jobs} training jobs on {cores} cores", facts), "utf-8")
    console.print(f"Plots: {page_path.resolve()}")
    if any(job.error for run in runs for job in run.jobs):
        raise SlaqError("a training job failed, see above")


def comparison(runs: Sequence[StreamRun]) -> Table:
    """Seconds to 90 % of its own loss reduction, job by job."""
    table = Table(title="Seconds from arrival to 90 % of the job's loss reduction", title_justify="left")
    table.add_column("job")
    for run in runs:
        table.add_column(run.policy, justify="right")
    for number, job in enumerate(runs[0].jobs):
        table.add_row(job.name, *(f"{time_to(run.jobs[number], 0.9):.1f}" for run in runs))
    return table


def findings(runs: Sequence[StreamRun]) -> list[str]:
    """The outcome in sentences."""
    summary = summarise(runs, baseline=runs[-1].policy)
    mine = summary.mean["slaq"]
    if any(values["mean_t90_s"] is None for values in summary.mean.values()):
        return ["There is nothing to compare: a job failed, or showed no loss."]
    if len(runs) == 1:
        return [f"With SLAQ a job reached 90 % of its loss reduction after {mine['mean_t90_s']:.1f} s on average."]
    base, change = summary.mean[runs[-1].policy], summary.versus["slaq"]
    longer = change["makespan_s"].value - 1.0
    losses = summary.final_losses["slaq"]
    same = "are missing" if losses is None else f"differ by {losses:.0e} of a job's reduction at most"
    return [
        f"Mean time to 90 % of a job's loss reduction: {mine['mean_t90_s']:.1f} s with SLAQ, "
        f"{base['mean_t90_s']:.1f} s with Spark's FAIR pools ({change['mean_t90_s']}).",
        f"Whole stream: {mine['makespan_s']:.1f} s and {base['makespan_s']:.1f} s ({longer:+.1%}). "
        f"Final losses {same}.",
    ]

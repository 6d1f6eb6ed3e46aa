"""A stream of real MLlib jobs under SLAQ and under Spark's own schedulers: same jobs, seeds and data, alternating.

Under Spark's FAIR and FIFO nothing of SLAQ runs but the probe that reads the losses, which runs under every policy.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import msgspec

from slaq.bench._comparison import Setting, Summary, alternate, summarise
from slaq.bench._first import First, first_job
from slaq.bench._limit import Limit, limit, sentences
from slaq.bench._output import cores_option, emit, format_option
from slaq.config import Config
from slaq.errors import SlaqError
from slaq.model import DEFAULTS
from slaq.sim.decisions import Pace
from slaq.workload.results import StreamRun
from slaq.workload.run import OWN, known_policy
from slaq.workload.stream import poisson

SHOWN = {
    "mean_t90_s": "s to 90 % of a job's reduction",
    "mean_t95_s": "s to 95 %",
    "mean_completion_s": "s to a job's end",
    "makespan_s": "s for the whole stream",
    "mean_loss": "normalised loss over time",
    "cpu_s": "CPU s of Spark",
    "driver_cpu_s": "CPU s of the driver's Python",
    "foreign_cpu_s": "CPU s of other programs meanwhile",
    "idle_core_s": "core-s idle",
}


@click.command(help=__doc__)
@click.option(
    "--policies",
    default="slaq,spark-fair,spark-fifo",
    show_default=True,
    help="Comma-separated; also slaq:NAME for SLAQ with one of its other policies, and bare: Spark without the probe.",
)
@click.option("--jobs", default=16, show_default=True, type=click.IntRange(min=1), help="Jobs in the stream.")
@click.option(
    "--rounds",
    default=3,
    show_default=True,
    type=click.IntRange(min=1),
    help="Streams that count, each a seed of its own.",
)
@click.option("--gap", "gap_s", default=2.0, show_default=True, help="Mean seconds between arrivals.")
@click.option("--length", default=1.0, show_default=True, help="Multiplies every job's iterations.")
@click.option("--rows", default=1.0, show_default=True, help="Multiplies the rows of the generated data.")
@click.option("--seed", default=1, show_default=True, help="Seed of the first round's stream.")
@cores_option
@click.option(
    "--data", type=click.Path(exists=True, file_okay=False), help="Folder of real data (parquet, libsvm, csv)."
)
@click.option("--epoch", "epoch_s", type=float, help="Seconds between SLAQ's decisions.")
@click.option("--hide-names", is_flag=True, help="Do not tell SLAQ's scheduler what trains: no priors.")
@click.option("--archive", type=click.Path(dir_okay=False), help="File of past fits to use and add to; none otherwise.")
@click.option(
    "--save",
    type=click.Path(dir_okay=False),
    help="Write every loss and every stage to this JSON file, for `slaq simulate --stream`.",
)
@format_option
def command(
    policies: str,
    jobs: int,
    rounds: int,
    gap_s: float,
    length: float,
    rows: float,
    seed: int,
    cores: int,
    data: str | None,
    epoch_s: float | None,
    hide_names: bool,
    archive: str | None,
    save: str | None,
    output_format: str,
) -> None:
    names = chosen(policies)
    if data and "bare" in names:
        raise SlaqError("--data is for streams in this driver: leave out the policy bare")
    attach: dict[str, object] = {} if epoch_s is None else {"epoch_s": epoch_s}
    attach |= {} if archive is None else {"archive": os.path.abspath(archive)}
    setting = Setting(cores=cores, rows=rows, data=data, attach=attach, named=not hide_names)
    streams = [poisson(jobs, gap_s, seed + number, length) for number in range(rounds)]
    runs = []

    def tell(text: str) -> None:
        click.echo(text, err=True)

    # The JVM compiles for minutes, which favours later runs: the first round does not count.
    done = alternate(setting, names, [streams[0], *streams], length, tell)
    done = (msgspec.structs.replace(run, round=run.round - 1) for run in done if run.round > 0)
    for run in done:
        runs.append(run)
        if save:  # after every run: a long measurement that is interrupted keeps what it has
            Path(save).write_bytes(msgspec.json.encode(runs))
    baseline = names[-1] if "spark-fair" not in names else "spark-fair"
    summary = summarise(runs, baseline)
    by_policy = {name: [run for run in runs if run.policy == name] for name in names}
    limits = limits_of(by_policy, baseline, epoch_s, not hide_names)
    firsts = {name: found for name, of in by_policy.items() if (found := first_job(of))}
    facts = {
        "limits": msgspec.to_builtins(limits),
        "first_job": msgspec.to_builtins(firsts),
        "setting": msgspec.to_builtins(setting),
        "jobs": jobs,
        "gap_s": gap_s,
        "length": length,
        "seed": seed,
    }
    title = (
        f"{jobs} jobs on {cores} cores, {rounds} rounds; difference to {baseline} in brackets, with its 95 % interval"
    )
    emit(output_format, facts | msgspec.to_builtins(summary), title, table(summary))
    if output_format == "table":
        click.echo(footnotes(summary, limits, firsts))
    if summary.failures:
        sys.exit(1)


def chosen(policies: str) -> list[str]:
    """The policies of a comma-separated list."""
    names = [name.strip() for name in policies.split(",") if name.strip()]
    for name in names:
        known_policy(name)
    if not names or len(set(names)) < len(names):
        raise SlaqError(f"--policies is {policies!r}; name each policy once")
    return names


def table(summary: Summary) -> list[dict[str, object]]:
    """One line per measure, one column per policy."""
    rows = []
    for name, title in SHOWN.items():
        row: dict[str, object] = {"mean of the rounds": title}
        for policy, values in summary.mean.items():
            value, change = values[name], summary.versus.get(policy, {}).get(name)
            row[policy] = "" if value is None else f"{value:.3g}" if change is None else f"{value:.3g} ({change})"
        rows.append(row)
    return rows


def limits_of(
    by_policy: Mapping[str, Sequence[StreamRun]], baseline: str, epoch_s: float | None, named: bool
) -> dict[str, Limit]:
    """The limit of every policy whose runs were recorded, by the very streams that it ran."""
    default, pace = Config(), Pace() if epoch_s is None else Pace(epoch_s)
    found = {}
    for policy, runs in by_policy.items():
        own = policy.removeprefix(OWN) if policy.startswith(OWN) else default.scheduler.policy
        ours = own if policy.startswith("slaq") else None
        bases = {run.round: run for run in by_policy[baseline]}
        known = limit(runs, [bases.get(run.round, run) for run in runs], ours, pace, DEFAULTS, named)
        if known is not None:
            found[policy] = known
    return found


def footnotes(summary: Summary, limits: Mapping[str, Limit], firsts: Mapping[str, First]) -> str:
    """What does not fit into the table."""
    lines = []
    for policy, rounds in summary.versus_rounds.items():
        spread = ", ".join(f"{change:+.0%}" for change in rounds.get("mean_t90_s", ())) or "not known"
        makespan = summary.versus[policy].get("makespan_s")
        whole = "not known" if makespan is None else f"{makespan.value - 1:+.1%}"
        lines.append(f"{policy}: t90 by round {spread}; whole stream {whole}")
        models, losses = (
            "are missing or of another shape" if most is None else f"differ by {most:.1e} at most"
            for most in (summary.models[policy], summary.final_losses[policy])
        )
        lines.append(f"{policy}: models, relative to their largest number: {models}")
        lines.append(f"{policy}: final losses, relative to a job's reduction: {losses}")
    for policy, values in summary.mean.items():
        if values["share_error_cores"] is not None:
            lines.append(
                f"{policy}: cores held differ from cores granted by {values['share_error_cores']:.3f} on average"
            )
        if values["forecast_error"] is not None and policy.startswith("slaq"):
            lines.append(
                f"{policy}: forecasts 1, 5, 10 iterations ahead miss by {values['forecast_error']:.1%} of a job's fall"
            )
    lines += [f"{policy}: first job: {found}" for policy, found in firsts.items()]
    for policy, known in limits.items():
        lines += sentences(policy, known)
    return "\n".join([*lines, *(f"failed: {failure}" for failure in summary.failures)])

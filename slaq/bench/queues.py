"""`slaq bench queues`: long-lived applications on one cluster, each with a queue of fits."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import msgspec

from slaq.bench._comparison import Summary, summarise
from slaq.bench._limit import Limit, limit
from slaq.bench._occupancy import occupancy_of
from slaq.bench._output import cores_option, emit, format_option
from slaq.bench.cluster import footnotes, table
from slaq.config import Config
from slaq.errors import SlaqError
from slaq.model import DEFAULTS
from slaq.sim.decisions import Pace
from slaq.workload.results import StreamRun
from slaq.workload.shared_cluster import WAYS, Setting, memory_for, run_ways
from slaq.workload.stream import queues

BASELINE = "spark-shared"


@click.command()
@click.option("--ways", default=",".join(WAYS), show_default=True, help="Comma-separated.")
@click.option("--applications", default=5, show_default=True, type=click.IntRange(1, 9), help="Each one driver.")
@click.option("--fits", default=6, show_default=True, type=click.IntRange(min=1), help="Fits in each queue.")
@click.option("--rounds", default=1, show_default=True, type=click.IntRange(min=1), help="Each a seed of its own.")
@click.option("--length", default=0.5, show_default=True, help="Multiplies every fit's iterations.")
@click.option("--rows", default=1.0, show_default=True, help="Multiplies the rows of the generated data.")
@click.option("--seed", default=1, show_default=True, help="Seed of the first round.")
@cores_option
@click.option("--memory", help="Of each driver and each executor.  [default: half of the machine's for all together]")
@click.option("--epoch", "epoch_s", default=0.5, show_default=True, help="Seconds between SLAQ's decisions.")
@click.option("--save", type=click.Path(dir_okay=False), help="Write every loss and every stage to this JSON file.")
@format_option
def command(
    ways: str,
    applications: int,
    fits: int,
    rounds: int,
    length: float,
    rows: float,
    seed: int,
    cores: int,
    memory: str | None,
    epoch_s: float,
    save: str | None,
    output_format: str,
) -> None:
    """Applications that share a real standalone cluster, each running one fit after the other.

    `slaq`: SLAQ's scheduler. `spark-shared`: over-declared cores, left to the operating system. `spark-fifo`: one
    application after the other has all cores. `spark-dynamic`: dynamic allocation. A fit's time counts from when its
    application begins it, that of the first from the begin of all.
    """
    names = chosen(ways)
    setting = Setting(cores, rows, memory or memory_for(applications), epoch_s, warm=length)
    streams = [queues(applications, fits, seed + number, length) for number in range(rounds)]
    runs = []
    for run in run_ways(setting, names, streams, lambda text: click.echo(text, err=True)):
        runs.append(run)
        if save:  # after every run: a long measurement that is interrupted keeps what it has
            Path(save).write_bytes(msgspec.json.encode(runs))
    baseline = BASELINE if BASELINE in names else names[-1]
    summary = summarise(runs, baseline)
    by_way = {name: [run for run in runs if run.policy == name] for name in names}
    limits = {"slaq": found} if (found := limit_of(by_way.get("slaq", []), by_way[baseline], epoch_s)) else {}
    idle = {name: idleness(of) for name, of in by_way.items()}
    facts = {
        "setting": msgspec.to_builtins(setting),
        "applications": applications,
        "fits": fits,
        "length": length,
        "seed": seed,
        "idle": idle,
        "limits": msgspec.to_builtins(limits),
    }
    title = f"{applications} applications × {fits} fits on {cores} cores, JVMs of {setting.memory}, {rounds} rounds"
    emit(
        output_format, facts | msgspec.to_builtins(summary), f"{title}; in brackets against {baseline}", table(summary)
    )
    if output_format == "table":
        click.echo("\n".join([*sentences(summary, idle), footnotes(summary, limits, {})]))
    if summary.failures:
        sys.exit(1)


def chosen(ways: str) -> list[str]:
    """The ways of a comma-separated list."""
    names = [name.strip() for name in ways.split(",") if name.strip()]
    if not names or len(set(names)) < len(names) or set(names) - set(WAYS):
        raise SlaqError(f"--ways is {ways!r}; name each way once, of {', '.join(WAYS)}")
    return names


def limit_of(runs: Sequence[StreamRun], bases: Sequence[StreamRun], epoch_s: float) -> Limit | None:
    """The clairvoyant's limit for SLAQ's runs, with the work of the baseline's and begun when they began it."""
    based = {run.round: run for run in bases}
    pairs = [(run, based[run.round]) for run in runs if run.round in based]
    if not pairs or any(job.error for pair in pairs for run in pair for job in run.jobs):
        return None
    ours, theirs = zip(*pairs, strict=True)
    return limit(ours, theirs, Config().scheduler.policy, Pace(epoch_s), DEFAULTS, True)


def idleness(runs: Sequence[StreamRun]) -> dict[str, float]:
    """How long, and for what share of the time, cores idled although tasks waited; the worst of the runs."""
    seen = [(occupancy_of(run.stages), run.cores) for run in runs if run.stages]
    return {
        "longest_s": max((found.longest_idle_s(cores) for found, cores in seen), default=0.0),
        "share": max((found.idle_share(cores) for found, cores in seen), default=0.0),
    }


def sentences(summary: Summary, idle: Mapping[str, Mapping[str, float]]) -> list[str]:
    """SLAQ against the best of Spark's own ways, and cores that idled."""
    lines = [
        f"{way}: a core idled while a task waited for {found['longest_s']:.2f} s at most, {found['share']:.1%} in all"
        for way, found in idle.items()
    ]
    t90_s = {way: found for way, means in summary.mean.items() if (found := means["mean_t90_s"]) is not None}
    others = {way: found for way, found in t90_s.items() if way != "slaq"}
    if "slaq" in t90_s and others:
        best = min(others, key=lambda way: others[way])
        whole, theirs = (summary.mean[way]["makespan_s"] for way in ("slaq", best))
        assert whole is not None
        assert theirs is not None
        lines.insert(
            0,
            f"slaq against the best of Spark's own ways, {best}: 90 % after {t90_s['slaq'] / others[best] - 1:+.0%}, "
            f"whole stream {whole / theirs - 1:+.1%}",
        )
    return lines

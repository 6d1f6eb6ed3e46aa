"""Run policies on simulated jobs, side by side on the same seeds, with the engine that schedules real clusters.

POLICIES: any of `slaq simulate --list`, or POLICY:PREDICTOR, such as max-total:weighted-fit, SLAQ as published. Every
result is a mean over seeds with its 95 % confidence interval and its ratio to `fair`, which always runs as well.
"""

import math
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from msgspec import structs
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import slaq
from slaq.cli._options import format_option
from slaq.cli._output import echo_json
from slaq.cli._papers import PAPERS
from slaq.cli._simulation_tables import show
from slaq.cli._tuning_options import Changes, combinations, tuned
from slaq.cli._workload_options import curves_of, setting_of, workload_options
from slaq.predict import LEARNED
from slaq.sim.compare import Comparison, compare
from slaq.sim.contenders import contender, contender_names
from slaq.sim.predictors import predictor_names
from slaq.sim.recording import read, workload_of

DEFAULT_POLICIES = "fair,fifo,max-min,max-total,finish-line"


@click.command(help=__doc__)
@click.option("--policies", default=DEFAULT_POLICIES, show_default=True, help="Names, separated by commas.")
@click.option("--paper", type=click.Choice(sorted(PAPERS)), help="The evaluation of a paper, beside its own values.")
@click.option("--list", "list_only", is_flag=True, help="List the names and exit.")
@workload_options
@click.option("--seeds", default=10, show_default=True, type=click.IntRange(1), help="Workloads drawn.")
@click.option("--first-seed", default=0, show_default=True, type=click.IntRange(0), help="Seed of the first one.")
@click.option(
    "--predictor",
    default=LEARNED,
    show_default=True,
    type=click.Choice(predictor_names()),
    help="Who forecasts the losses.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE[,VALUE…]",
    help="Another number of the tuning, such as worth_end=0.3,0.6; may be repeated. Every combination is simulated.",
)
@click.option("--until", type=click.FloatRange(0.0, min_open=True), help="Stop after so many virtual seconds.")
@click.option(
    "--replay",
    type=click.Path(exists=True, path_type=Path),
    help="Simulate a recording, or a scheduler's decision log, instead of drawn workloads.",
)
@click.option(
    "--stream",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Replay the runs that `slaq bench cluster --save` wrote, task by task, instead of drawn workloads.",
)
@click.option(
    "--rule",
    "rules",
    default="tokens",
    show_default=True,
    help="With --stream: how slots follow the decisions, separated by commas, such as tokens, tokens:0.5 or order.",
)
@click.option(
    "--shakes",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="With --stream: repeat it with other task lengths.",
)
@click.option(
    "--processes",
    default=os.cpu_count() or 1,
    show_default="one per processor",
    type=click.IntRange(1),
    help="Processes to work on; results do not depend on it.",
)
@format_option("table", "json")
def command(
    policies: str, list_only: bool, settings: tuple[str, ...], processes: int, output_format: str, **options: Any
) -> None:
    if options["paper"]:
        PAPERS[options["paper"]](settings, options["seeds"], options["first_seed"], processes, output_format)
        return
    if options["stream"]:
        from slaq.cli._stream_replay import replay, show_replayed

        rows = replay(None if policies == DEFAULT_POLICIES else policies, combinations(settings), processes, options)
        if output_format == "json":
            echo_json({"version": slaq.__version__, "stream": str(options["stream"]), "policies": rows})
        else:
            show_replayed(rows)
        return
    if list_only:
        click.echo("\n".join(contender_names()))
        return
    comparison = _comparison(tuple(name.strip() for name in policies.split(",") if name.strip()), options)
    results = [
        facts | ({"tuning": changes} if changes else {})
        for changes in combinations(settings)
        for facts in _with_progress(_tuned(comparison, changes), processes)
    ]
    configuration = _configuration(comparison, options)
    if output_format == "json":
        echo_json({"version": slaq.__version__, "configuration": configuration, "policies": results})
    else:
        show(configuration, results)


def _comparison(names: tuple[str, ...], options: dict[str, Any]) -> Comparison:
    for name in names:
        contender(name)
    setting, replayed, seeds = setting_of(options), None, options["seeds"]
    if options["replay"]:
        recording = read(options["replay"])
        replayed = workload_of(recording)
        # A recording is one workload: other seeds would repeat it.
        seeds = 1
        setting = structs.replace(
            setting,
            jobs=len(replayed),
            cores=options["cores"] or recording.state.cores,
            epoch_s=options["epoch"] or recording.state.epoch_s,
        )
    first = options["first_seed"]
    return Comparison(
        names,
        setting,
        tuple(curves_of(options)),
        tuple(range(first, first + seeds)),
        options["predictor"],
        options["until"] or math.inf,
        replayed,
    )


def _configuration(comparison: Comparison, options: dict[str, Any]) -> dict[str, object]:
    setting = {name: _plain(value) for name, value in structs.asdict(comparison.setting).items()}
    return {
        **setting,
        "seeds": list(comparison.seeds),
        "predictor": comparison.predictor,
        "until_s": _plain(comparison.until_s),
        "traces": str(options["traces"] or "recorded from MLlib, shipped with SLAQ"),
        "curves": len(comparison.curves),
        "replay": str(options["replay"]) if options["replay"] else None,
    }


def _plain(value: object) -> object:
    """JSON has no infinity; no limit is null."""
    return None if isinstance(value, float) and math.isinf(value) else value


def _tuned(comparison: Comparison, changes: Changes) -> Comparison:
    return replace(comparison, tuning=tuned(changes))


def _with_progress(comparison: Comparison, processes: int) -> list[dict[str, object]]:
    """Compare, with a progress bar on stderr if that is a terminal."""
    columns = (TextColumn("simulating"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as bar:
        task = bar.add_task("", total=None)
        return compare(comparison, processes, lambda done, of: bar.update(task, completed=done, total=of))

"""`slaq simulate --stream`: recorded streams task by task under several policies and slot rules, side by side."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

from msgspec import structs
from rich.table import Table

from slaq import policy
from slaq.cli._output import console
from slaq.cli._tuning_options import Changes, tuned
from slaq.errors import SlaqError
from slaq.sim.decisions import Pace
from slaq.sim.disciplines import named_rule
from slaq.sim.streams import Follow, Result, Stream, names, play, result, shaken
from slaq.workload.replay import replayable, saved_runs, stream_of

BASELINE = "spark-fair"
DEFAULT = "spark-fair,finish-line,clairvoyant,ideal"

_TITLES = {"t90_s": "to 90 %, s", "t95_s": "to 95 %, s", "end_s": "to the end, s", "makespan_s": "whole stream, s"}


def replay(
    policies: str | None, changed: Sequence[Changes], processes: int, options: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """One row per policy, rule and tuning: means over the streams, and their ratio to `spark-fair` on the same ones."""
    recorded = [stream_of(run) for run in saved_runs(options["stream"]) if replayable(run)]
    if not recorded:
        raise SlaqError(
            f"{options['stream']} holds no run with recorded stages; `slaq bench cluster --save` writes some"
        )
    streams = [shaken(stream, seed) for stream in recorded for seed in range(options["shakes"])]
    pace = Pace() if options["epoch"] is None else Pace(options["epoch"])
    wanted = [
        (name, Follow(pace, rule, tuned(changes), options["predictor"], options["unnamed"] < 1.0), changes)
        for name in (policies or DEFAULT).split(",")
        for rule in (options["rules"].split(",") if name in policy.names() else [""])
        for changes in (changed if name not in (BASELINE, "spark-fifo") else [{}])
    ]
    for name, follow, _ in wanted:
        if name not in names():
            raise SlaqError(f"unknown policy {name!r}; choose among {', '.join(names())}")
        if follow.rule:
            named_rule(follow.rule)
    with ProcessPoolExecutor(processes) as pool:
        ask = partial(_results, pool, streams)
        fair = ask(BASELINE, Follow())
        return [
            {"policy": name, "rule": follow.rule, "tuning": changes, **_row(ask(name, follow), fair)}
            for name, follow, changes in wanted
        ]


def show_replayed(rows: Sequence[Mapping[str, Any]]) -> None:
    """The rows as a table."""
    table = Table("policy", *_TITLES.values())
    for row in rows:
        tuning = (f"{name}={value:g}" for name, value in row["tuning"].items())
        title = " ".join(part for part in (row["policy"], row["rule"], *tuning) if part)
        table.add_row(title, *(f"{row[name]:.3g}  ×{row[f'{name}_ratio']:.3f}" for name in _TITLES))
    console().print(table)


def _results(pool: ProcessPoolExecutor, streams: Sequence[Stream], name: str, follow: Follow) -> list[Result]:
    return list(pool.map(partial(_result, name=name, follow=follow), streams))


def _result(stream: Stream, name: str, follow: Follow) -> Result:
    return result(play(stream, name, follow))


def _row(ours: Sequence[Result], fair: Sequence[Result]) -> dict[str, float]:
    """Means over the streams, and ratios of sums."""
    sums = {name: sum(getattr(each, name) for each in ours) for name in structs.asdict(ours[0])}
    ratios = {f"{name}_ratio": total / sum(getattr(each, name) for each in fair) for name, total in sums.items()}
    return {name: total / len(ours) for name, total in sums.items()} | ratios

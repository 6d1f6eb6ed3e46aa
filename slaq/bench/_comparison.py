"""Streams under several policies, alternating, in one process: the runs, and the numbers that compare them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from slaq.bench._ratio import Ratio, ratio_of_sums
from slaq.workload import measures
from slaq.workload.algorithms import generated
from slaq.workload.app import GO, App, Open, Run
from slaq.workload.event_log import event_log
from slaq.workload.results import StreamRun
from slaq.workload.run import Live, cached_frames, mode, run_stream, warm_up
from slaq.workload.session import session
from slaq.workload.stream import Planned, in_turn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


MEMORY = "6g"
"""Of the driver, where in these runs the tasks run too. SLAQ keeps more jobs open at a time than Spark's FAIR, with the
data that they cache; when live data exceed 45 % of the heap, the JVM starts to collect garbage concurrently."""


BARE_S = 3600.0
"""A stream in a process of its own must say something within this time."""


class Setting(Struct, frozen=True):
    """What stays the same under every policy."""

    cores: int
    rows: float = 1.0
    """Multiplies the rows of the generated data."""
    data: str | None = None
    """Folder of real data."""
    most_rows: int = 20_000
    """Rows taken from a file of real data."""
    attach: dict[str, Any] = {}
    """Settings for `slaq.attach`."""
    named: bool = True
    """Whether SLAQ's scheduler is told what trains."""


def alternate(
    setting: Setting,
    policies: Sequence[str],
    streams: Sequence[Sequence[Planned]],
    warm: float,
    tell: Callable[[str], None] = lambda _: None,
    live: Live | None = None,
) -> Iterable[StreamRun]:
    """Every stream (a round) under every policy in turn, each in a Spark context of its own in the same warm JVM.

    The JVM warms up on every algorithm at `warm` times its length, because compiled code makes later runs faster.
    Closing the generator stops Spark.
    """
    first = True
    for number, stream, policy in in_turn(streams, policies):
        if policy == "bare":
            tell(f"round {number + 1}: {policy}: {len(stream)} jobs in a process of their own")
            yield run_bare(setting, stream, number, warm)
            continue
        with event_log() as logged:
            spark = session(mode(policy), setting.cores, MEMORY, more=logged)
            try:
                tell(f"round {number + 1}: {policy}: making the data")
                frames = cached_frames(stream, loader(spark, setting))
                if first and warm:
                    tell("warming up the JVM")
                    warm_up(spark, "spark-fair", stream, frames, warm)
                    first = False
                tell(f"round {number + 1}: {policy}: {len(stream)} jobs")
                yield run_stream(spark, policy, stream, frames, number, setting.attach, live, setting.named)
            finally:
                spark.stop()


def run_bare(setting: Setting, stream: Sequence[Planned], number: int, warm: float) -> StreamRun:
    """A stream in a process of its own, on a Spark without anything of SLAQ."""
    jobs = tuple(stream)
    with App() as app:
        app.send(Open(jobs, setting.cores, setting.rows, MEMORY, mode("bare"), probe=False, warm=warm))
        app.wait(BARE_S)
        app.send(Run("bare", jobs))
        app.wait(BARE_S)
        app.send(GO)
        return msgspec.structs.replace(app.result(BARE_S).run, round=number)


def loader(spark: "SparkSession", setting: Setting) -> "Callable[[str], DataFrame]":
    """Real data where the folder has some for an algorithm, generated data otherwise."""
    from slaq.workload.files import real_data

    real = real_data(spark, Path(setting.data), setting.most_rows) if setting.data else lambda _: None

    def load(name: str) -> "DataFrame":
        found = real(name)
        return generated(spark, name, setting.rows) if found is None else found

    return load


def metrics(run: StreamRun, until_s: float) -> dict[str, float | None]:
    """One run in numbers; `until_s` is common to the runs of a round.

    They are unknown for a run in which a job failed: giving up early is not being fast.
    """
    known = all(job.losses for job in run.jobs)
    found = {
        "mean_t90_s": measures.mean_time_to(run, 0.90) if known else None,
        "mean_t95_s": measures.mean_time_to(run, 0.95) if known else None,
        "mean_loss": measures.mean_loss(run, until_s) if known else None,
        "mean_completion_s": measures.mean_completion(run),
        "makespan_s": run.makespan_s,
        "cpu_s": run.cpu_s,
        "driver_cpu_s": run.driver_cpu_s,
        "foreign_cpu_s": measures.foreign_cpu_s(run),
        "idle_core_s": measures.idle_core_s(run),
        "forecast_error": measures.forecast_error(run),
        "share_error_cores": measures.share_error(run.samples),
    }
    return dict.fromkeys(found) if any(job.error for job in run.jobs) else found


class Summary(Struct, frozen=True):
    """All rounds together: per policy and metric the mean and spread, and the same relative to a baseline."""

    rounds: list[dict[str, Any]]
    mean: dict[str, dict[str, float | None]]
    spread: dict[str, dict[str, float | None]]
    versus: dict[str, dict[str, Ratio]]
    """Sum over the rounds relative to the baseline's: 0.7 is 30 % lower."""
    versus_rounds: dict[str, dict[str, list[float]]]
    """Each round's own ratio minus 1."""
    models: dict[str, float | None]
    """Largest relative difference to the baseline's models in the same round; None: some are missing or unlike."""
    final_losses: dict[str, float | None]
    failures: list[str]


def summarise(runs: Sequence[StreamRun], baseline: str) -> Summary:
    """Compare policies round by round, so that what changes between rounds does not count."""
    by_round: dict[int, dict[str, StreamRun]] = {}
    for run in runs:
        by_round.setdefault(run.round, {})[run.policy] = run
    until = {number: max(run.makespan_s for run in group.values()) for number, group in by_round.items()}
    rows = [{"round": run.round, "policy": run.policy, **metrics(run, until[run.round])} for run in runs]
    policies = list(dict.fromkeys(run.policy for run in runs))
    names = [name for name in rows[0] if name not in ("round", "policy")]
    columns = {policy: {name: _known(rows, policy, name) for name in names} for policy in policies}
    pairs_of = {
        policy: {name: _pairs(rows, policy, baseline, name) for name in names}
        for policy in policies
        if policy != baseline
    }
    pairs = [(group[baseline], run) for group in by_round.values() for run in group.values() if baseline in group]
    others = [policy for policy in policies if policy != baseline]
    return Summary(
        rounds=rows,
        mean={p: {n: fmean(v) if v else None for n, v in columns[p].items()} for p in policies},
        spread={p: {n: pstdev(v) if v else None for n, v in columns[p].items()} for p in policies},
        versus={p: {n: ratio_of_sums(v) for n, v in found.items() if v} for p, found in pairs_of.items()},
        versus_rounds={
            p: {n: [a / b - 1.0 for a, b in v] for n, v in found.items() if v} for p, found in pairs_of.items()
        },
        models={p: _worst(measures.model_difference, pairs, p) for p in others},
        final_losses={p: _worst(measures.final_loss_difference, pairs, p) for p in others},
        failures=[f"{run.policy} {job.name}: {job.error}" for run in runs for job in run.jobs if job.error],
    )


def _worst(
    difference: Callable[[StreamRun, StreamRun], float], pairs: Sequence[tuple[StreamRun, StreamRun]], policy: str
) -> float | None:
    worst = max((difference(base, run) for base, run in pairs if run.policy == policy), default=0.0)
    return worst if worst < float("inf") else None


def _known(rows: Sequence[Mapping[str, Any]], policy: str, name: str) -> list[float]:
    return [row[name] for row in rows if row["policy"] == policy and row[name] is not None]


def _pairs(rows: Sequence[Mapping[str, Any]], policy: str, baseline: str, name: str) -> list[tuple[float, float]]:
    """The policy's value and the baseline's in every round that has both."""
    base = {row["round"]: row[name] for row in rows if row["policy"] == baseline}
    return [
        (row[name], base[row["round"]])
        for row in rows
        if row["policy"] == policy and row[name] and base.get(row["round"])
    ]

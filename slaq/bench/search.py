"""Searches with plain Spark and with SLAQ attached, by turns: how long they take, and whether they find the same.

Kinds. equal: twelve candidates that take equally long. unequal: three searches one after the other, of linear models
and trees, of factorisations and of clusterings, whose candidates take up to ten times as long as each other. beside:
the equal search, and a fit of another user that begins a while after it; "90 %" is when that fit's loss has come so
far, from its own begin. Ways: plain is Spark as it comes (FIFO), fair a FAIR pool for each of the two users, slaq the
same program with SLAQ attached, slaq.tuning the same with its CrossValidator.
"""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from msgspec import Struct, to_builtins

from slaq.bench import _searches
from slaq.bench._output import emit, format_option
from slaq.bench._searches import Neighbour, Part, Size
from slaq.workload.run import observed
from slaq.workload.session import session
from slaq.workload.watch import Seen, Watch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POLICIES = {"plain": "spark-fifo", "fair": "spark-fair", "slaq": "slaq", "slaq.tuning": "slaq"}
MODES = {"fair": "FAIR"}
"""Spark's scheduling mode where it is not its default; SLAQ brings its own pools."""


class Kind(NamedTuple):
    """What is searched, and in which ways; the first is what the others are compared with."""

    parts: "Callable[[SparkSession, Size], list[Part]]"
    ways: tuple[str, ...]
    beside: bool = False


KINDS = {
    "equal": Kind(_searches.equal, ("plain", "slaq")),
    "unequal": Kind(_searches.unequal, ("plain", "slaq", "slaq.tuning")),
    "beside": Kind(_searches.equal, ("fair", "plain", "slaq"), beside=True),
}
REACHED = 0.9
"""The share of its whole loss reduction at which the other user's fit is timed."""


class Found(Struct, frozen=True):
    """One search."""

    part: str
    way: str
    round: int
    elapsed_s: float
    metrics: list[float]
    chosen: str
    reached_s: float | None = None
    """When the other user's fit had come 90 % of its way, since its begin."""


class Setting(NamedTuple):
    """What stays the same in every way."""

    size: Size
    folds: int
    parallelism: int
    after_s: float


@click.command(help=__doc__)
@click.option("--kind", type=click.Choice(list(KINDS)), default="equal", show_default=True, help="Which searches.")
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(min=1), help="Searches of each way.")
@click.option("--rows", default=12_000, show_default=True, type=click.IntRange(min=100), help="Rows of the drawn data.")
@click.option("--iterations", default=40, show_default=True, type=click.IntRange(min=4), help="Of long candidates.")
@click.option("--folds", default=2, show_default=True, type=click.IntRange(min=2), help="Of a search.")
@click.option("--parallelism", default=6, show_default=True, type=click.IntRange(min=1), help="Fits at once.")
@click.option("--after", "after_s", default=3.0, show_default=True, help="Seconds until the other user's fit begins.")
@click.option(
    "--local-dir",
    type=click.Path(exists=True, file_okay=False),
    help="Where Spark writes shuffle files; what creating them costs varies on a disk, so best a folder in memory.",
)
@click.option("--cores", default=os.cpu_count() or 2, show_default="all", type=click.IntRange(min=1), help="Of Spark.")
@format_option
def command(
    kind: str,
    rounds: int,
    rows: int,
    iterations: int,
    folds: int,
    parallelism: int,
    after_s: float,
    local_dir: str | None,
    cores: int,
    output_format: str,
) -> None:
    ways, found = KINDS[kind].ways, []
    more = {"spark.local.dir": os.path.abspath(local_dir)} if local_dir else {}
    setting = Setting(Size(rows, iterations), folds, parallelism, after_s)
    for number in range(-1, rounds):
        turned = ways if number % 2 else ways[::-1]
        for way in turned:
            spark = session(MODES.get(way, "FIFO"), cores, more=more)
            try:
                made = run(spark, KINDS[kind], way, number, setting)
            finally:
                spark.stop()
            for each in made:  # a long measurement that is interrupted keeps what it has
                other = "" if each.reached_s is None else f", the other's 90 % after {each.reached_s:.2f} s"
                click.echo(f"round {number + 1}: {way}: {each.part}: {each.elapsed_s:.2f} s{other}", err=True)
            found += made if number >= 0 else []  # the JVM compiles for minutes: the first round does not count
    title = f"{kind} candidates, {folds} folds, {parallelism} fits at once, {cores} cores, median of {rounds} rounds"
    emit(output_format, {"searches": [to_builtins(each) for each in found]}, title, summary(found, ways))


def run(spark: "SparkSession", kind: Kind, way: str, number: int, setting: Setting) -> list[Found]:
    """All searches of one kind, one after the other."""
    parts = kind.parts(spark, setting.size)
    other = _searches.neighbour(spark, setting.size) if kind.beside else None
    found = []
    for part in parts:
        validator = _validator(way, part, setting)
        began = time.time()
        watch = Watch(began)
        with observed(spark, POLICIES[way], watch, {}):
            _pool(spark, way, "search")
            with ThreadPoolExecutor(1) as threads:
                beside = threads.submit(_train, spark, way, other, setting.after_s) if other else None
                model = validator.fit(part.rows)
                elapsed_s = time.time() - began
            if beside is not None:
                beside.result()
        metrics = [float(value) for value in model.avgMetrics]
        best = max if part.evaluator.isLargerBetter() else min
        chosen = part.grid[metrics.index(best(metrics))]
        told = ", ".join(f"{param.name}={value}" for param, value in chosen.items() if param.name != "stages")
        fit = next((fit for fit in watch.fits() if other and fit.uid == other.uid), None)
        found.append(Found(part.name, way, number, elapsed_s, metrics, told, None if fit is None else reached_s(fit)))
    return found


def _train(spark: "SparkSession", way: str, other: Neighbour, after_s: float) -> None:
    """The other user's program, a thread of its own."""
    time.sleep(after_s)
    _pool(spark, way, "neighbour")
    other.train()


def _pool(spark: "SparkSession", way: str, name: str) -> None:
    if way == "fair":
        spark.sparkContext.setLocalProperty("spark.scheduler.pool", name)


def _validator(way: str, part: Part, setting: Setting) -> Any:
    from pyspark.ml.tuning import CrossValidator as Plain

    from slaq.tuning import CrossValidator as Own

    validator = Own if way == "slaq.tuning" else Plain
    return validator(
        estimator=part.estimator,
        estimatorParamMaps=part.grid,
        evaluator=part.evaluator,
        numFolds=setting.folds,
        parallelism=setting.parallelism,
        seed=1,
    )


def reached_s(fit: Seen) -> float:
    """When the loss of a fit had come 90 % of its way, since its begin."""
    first, last = fit.curve[0][1], fit.curve[-1][1]
    return next(at_s for at_s, loss in fit.curve if loss <= first - REACHED * (first - last)) - fit.began_s


def summary(found: Sequence[Found], ways: Sequence[str]) -> list[dict[str, object]]:
    """A line for each part and way, beside the first way in the same rounds, and one for all parts together."""
    names = list(dict.fromkeys(each.part for each in found))
    lines: list[dict[str, object]] = []
    for name in (*names, *(["all"] if len(names) > 1 else [])):
        totals = {
            way: _by_round([each for each in found if each.way == way and name in (each.part, "all")]) for way in ways
        }
        for way in ways:
            ratios = sorted(totals[way][number] / total for number, total in totals[ways[0]].items())
            mine = [each for each in found if each.way == way and each.part == name]
            line: dict[str, object] = {
                "search": name,
                "way": way,
                "s": median(totals[way].values()),
                f"of {ways[0]}": median(ratios),
                "least": ratios[0],
                "most": ratios[-1],
                "found": _agreement(mine, [each for each in found if each.part == name]) if mine else "",
            }
            reached = [each.reached_s for each in mine if each.reached_s is not None]
            if reached:
                line |= {"other's 90 % s": median(reached), "by round": " ".join(f"{each:.1f}" for each in reached)}
            lines.append(line)
    return lines


def _by_round(found: Sequence[Found]) -> dict[int, float]:
    seconds: dict[int, float] = {}
    for each in found:
        seconds[each.round] = seconds.get(each.round, 0.0) + each.elapsed_s
    return seconds


def _agreement(mine: Sequence[Found], everybody: Sequence[Found]) -> str:
    """The candidate that was chosen, and how far metrics are from those of any other search of it."""
    chosen = {each.chosen for each in mine}
    first = everybody[0].metrics
    most = max(abs(one - other) for each in mine for one, other in zip(each.metrics, first, strict=True))
    return f"{' or '.join(sorted(chosen))}; metrics " + ("identical" if most == 0.0 else f"within {most:.1e}")

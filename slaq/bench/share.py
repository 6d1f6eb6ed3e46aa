"""`slaq bench share`: do jobs get the share of CPU time they were granted, on every kind of master?"""

import json
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias

import click

from slaq.bench._drivers import Driver, answer, driver, tell
from slaq.bench._output import emit, format_option
from slaq.bench._session import spark_session
from slaq.bench._shares import READY, task_rows, use
from slaq.bench._standalone import standalone_cluster

CORES = 2
TWO = {"a": 0.75, "b": 0.25}
EIGHT = {f"job-{n}": share for n, share in enumerate((0.24, 0.20, 0.16, 0.12, 0.10, 0.08, 0.06, 0.04))}
PLACES = ("local", "local-cluster", "standalone")
BAR_POINTS = 2.0

Use: TypeAlias = Mapping[str, tuple[float, float]]


@click.command()
@click.option("--seconds", default=10.0, show_default=True, help="Length of each measured window.")
@click.option("--place", "places", type=click.Choice(PLACES), multiple=True, help="Only this master; may be repeated.")
@format_option
def command(seconds: float, places: tuple[str, ...], output_format: str) -> None:
    """Two jobs (75/25) and eight unequal ones, hungry, on two cores: asked and received shares of CPU time.

    The baseline is Spark's fair scheduler with the shares as weights of its pools.
    """
    rows = []
    for place in places or PLACES:
        for asked, got in measure(place, seconds):
            rows.append(row(place, asked, got))
    facts = {"seconds": seconds, "bar_points": BAR_POINTS, "runs": rows, "passed": passed(rows)}
    emit(output_format, facts, "Shares of CPU time: asked and received (points = percentage points)", rows)


def measure(place: str, seconds: float) -> list[tuple[Mapping[str, float], Use]]:
    """Asked shares and use of every run on one kind of master."""
    if place == "standalone":
        with standalone_cluster(workers=2, cores_per_worker=CORES) as master, ExitStack() as running:
            drivers = [running.enter_context(driver("slaq.bench._shares", master, str(CORES))) for _ in range(2)]
            rows = common_rows(drivers)
            return [(asked, two_applications(drivers, asked, seconds, rows)) for asked in (TWO, EIGHT)]
    master = f"local[{CORES}]" if place == "local" else f"local-cluster[{CORES},1,1024]"
    runs: list[tuple[Mapping[str, float], Use]] = []
    with tempfile.TemporaryDirectory(prefix="slaq-bench-") as folder:
        pools = Path(folder) / "pools.xml"
        pools.write_text(weighted_pools(TWO))
        with spark_session(master, spark_scheduler_allocation_file=str(pools)) as spark:
            rows = task_rows(spark)
            if place == "local":
                runs.append(({"weights only": 0.75}, use(spark, dict.fromkeys(TWO), seconds, rows)))
            for asked in (TWO, EIGHT):
                cores = {job: share * CORES for job, share in asked.items()}
                runs.append((asked, use(spark, cores, seconds, rows)))
    return runs


def common_rows(drivers: list[Driver]) -> int:
    """The work of a task on this cluster, asked of one application after the other: at once, both would find less."""
    found: list[int] = []
    for one in drivers:
        tell(one, "{}")
        found.append(json.loads(answer(one, until="{"))["rows"])
    return sum(found) // len(found)


def two_applications(drivers: list[Driver], asked: Mapping[str, float], seconds: float, rows: int) -> Use:
    """Each application holds every other job; there are more slots than cores, the buckets keep the sum right."""
    names = list(asked)
    for one, half in zip(drivers, (names[0::2], names[1::2]), strict=True):
        tell(one, json.dumps({"cores": {job: asked[job] * CORES for job in half}, "seconds": seconds, "rows": rows}))
    for one in drivers:
        answer(one, until=READY)
    for one in drivers:
        tell(one, "go")
    got: dict[str, tuple[float, float]] = {}
    for one in drivers:
        got.update(json.loads(answer(one, until="{")))
    return {job: got[job] for job in asked}


def shares(seconds: Iterable[float]) -> list[float]:
    """Each job's part of what all of them got."""
    parts = list(seconds)
    return [part / sum(parts) for part in parts]


def row(place: str, asked: Mapping[str, float], got: Use) -> dict[str, object]:
    """One line of the table; the baseline's asked share belongs to the first of its two jobs."""
    cpu, held = shares(cpu_s for cpu_s, _ in got.values()), shares(held_s for _, held_s in got.values())
    points = [100 * abs(want - have) for want, have in zip(asked.values(), cpu, strict=False)]
    return {
        "master": place + (" (fair weights, no grants)" if "weights only" in asked else ""),
        "asked %": percent(asked.values(), 0),
        "CPU time %": percent(cpu, 1),
        "slots held %": percent(held, 1),
        "worst points": max(points),
        "bar": BAR_POINTS,
    }


def percent(parts: Iterable[float], digits: int) -> str:
    """Shares as a short text."""
    return " ".join(f"{100 * part:.{digits}f}" for part in parts)


def passed(rows: list[dict[str, object]]) -> bool:
    """Whether every granted run is within the bar."""
    return all(float(str(r["worst points"])) <= BAR_POINTS for r in rows if "weights" not in str(r["master"]))


def weighted_pools(asked: Mapping[str, float]) -> str:
    """Spark's allocation file with the shares as weights."""
    pools = "".join(f'<pool name="{job}"><weight>{round(100 * share)}</weight></pool>' for job, share in asked.items())
    return f"<allocations>{pools}</allocations>"

"""`slaq bench overhead`: what the bridge costs an application that nobody throttles."""

import statistics
from contextlib import ExitStack

import click

from slaq.bench._drivers import Driver, answer, driver, tell
from slaq.bench._output import emit, format_option
from slaq.bench._overhead import BRIDGE, PLAIN, POOLS, STAGES, TASKS_PER_POOL, TOOK

MODULE = "slaq.bench._overhead"
WARM_UP = 5
BAR_SLOWDOWN = 1.02
BAR_THROUGHPUT = 0.95

TITLES = {
    "stages": f"{STAGES} stages of 8 tasks, time",
    "pools": f"{POOLS} pools, {POOLS * TASKS_PER_POOL} empty tasks, launches",
}


@click.command()
@click.option("--pairs", default=3, show_default=True, help="Pairs of JVMs; no two compile the same code alike.")
@click.option("--rounds", default=11, show_default=True, help="Runs of each JVM, in turn with its twin.")
@format_option
def command(pairs: int, rounds: int, output_format: str) -> None:
    """The same work in a JVM with agent and plugin and in one without SLAQ, in turn.

    Ratios are of the times of a round, one run right after the other; the median over all rounds of all pairs counts.
    """
    times: dict[str, list[tuple[float, float]]] = {work: [] for work in TITLES}
    medians: dict[str, list[float]] = {work: [] for work in TITLES}
    for _ in range(pairs):
        with ExitStack() as running:
            arms = {arm: running.enter_context(driver(MODULE, arm)) for arm in (BRIDGE, PLAIN)}
            for work in TITLES:
                measured = alternate(arms, work, rounds)
                times[work] += measured
                medians[work].append(statistics.median(bridge / plain for bridge, plain in measured))
    slowdown = statistics.median(bridge / plain for bridge, plain in times["stages"])
    throughput = statistics.median(plain / bridge for bridge, plain in times["pools"])
    rows = [
        row("stages", times["stages"], slowdown, f"<= {BAR_SLOWDOWN}"),
        row("pools", times["pools"], throughput, f">= {BAR_THROUGHPUT}"),
    ]
    ok = slowdown <= BAR_SLOWDOWN and throughput >= BAR_THROUGHPUT
    facts = {"pairs": pairs, "rounds": rounds, "slowdown": slowdown, "throughput": throughput, "runs": rows}
    facts |= {"time_ratio_by_pair": medians, "passed": ok}
    title = "Cost of the bridge without grants (first row: time ratio; second: launches per second)"
    emit(output_format, facts, title, rows)


def alternate(arms: dict[str, Driver], work: str, rounds: int) -> list[tuple[float, float]]:
    """Seconds of the work with the bridge and plain, of each round after the first few."""
    measured = []
    for number in range(WARM_UP + rounds):
        took = {}
        for arm in (BRIDGE, PLAIN) if number % 2 else (PLAIN, BRIDGE):
            tell(arms[arm], work)
            took[arm] = float(answer(arms[arm], until=TOOK).removeprefix(TOOK))
        if number >= WARM_UP:
            measured.append((took[BRIDGE], took[PLAIN]))
    return measured


def row(work: str, times: list[tuple[float, float]], ratio: float, bar: str) -> dict[str, object]:
    """One line of the table."""
    bridge, plain = (statistics.median(arm) for arm in zip(*times, strict=True))
    return {"work": TITLES[work], "bridge s": bridge, "plain s": plain, "ratio": ratio, "bar": bar}

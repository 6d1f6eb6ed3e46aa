"""`slaq bench report`: what one `slaq.report` costs a training loop, compared with an empty function."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import click

import slaq
from slaq.bench._output import emit, format_option
from slaq.sdk.registry import REGISTRY

CALLS = 2_000
ROUNDS = 50
BAR_US = 5.0
KINDS: dict[str, dict[str, Any]] = {
    "loss": {},
    "loss, iteration": {"iteration": 7},
    "loss, two metrics": {"accuracy": 0.5, "f1": 0.4},
}


def nothing(loss: float, iteration: int | None = None, higher_is_better: bool = False, **metrics: float) -> None:
    """The baseline: a call that does nothing."""


def take(stop: threading.Event) -> None:
    """What the driver loop does meanwhile, ten times a second."""
    while not stop.wait(0.1):
        REGISTRY.take()


@click.command(help=__doc__)
@format_option
def command(output_format: str) -> None:
    stop = threading.Event()
    threading.Thread(target=take, args=(stop,), daemon=True).start()
    rows: list[dict[str, Any]] = []
    with slaq.job("bench"):
        for name, arguments in KINDS.items():
            reported, empty = interleaved(slaq.report, nothing, arguments)
            rows.append(
                {
                    "call": name,
                    "report CPU µs": reported.cpu_us,
                    "report wall µs": reported.wall_us,
                    "empty CPU µs": empty.cpu_us,
                    "empty wall µs": empty.wall_us,
                    "bar µs": BAR_US,
                }
            )
    stop.set()
    facts = {"rows": rows, "calls": CALLS * ROUNDS}
    emit(output_format, facts, f"cost of one report, median of {ROUNDS} rounds; wall includes other programs", rows)


@dataclass(frozen=True, slots=True)
class Cost:
    """Median microseconds of one call: of this thread's CPU, and on the clock."""

    cpu_us: float
    wall_us: float


def interleaved(
    first: Callable[..., None], second: Callable[..., None], arguments: dict[str, Any]
) -> tuple[Cost, Cost]:
    """The cost of both calls, measured in turns so that a busy machine slows both."""
    rounds = [(one_round(first, arguments), one_round(second, arguments)) for _ in range(ROUNDS)]
    one, two = zip(*rounds, strict=True)
    return _median(one), _median(two)


def one_round(call: Callable[..., None], arguments: dict[str, Any]) -> Cost:
    """The mean cost over a round of calls."""
    began, cpu = time.perf_counter(), time.thread_time()
    for _ in range(CALLS):
        call(0.5, **arguments)
    cpu_s, wall_s = time.thread_time() - cpu, time.perf_counter() - began
    return Cost(cpu_s / CALLS * 1e6, wall_s / CALLS * 1e6)


def _median(costs: Sequence[Cost]) -> Cost:
    return Cost(median(cost.cpu_us for cost in costs), median(cost.wall_us for cost in costs))

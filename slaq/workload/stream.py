"""A stream of training jobs: who arrives when, decided by a seed."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace
from numpy.random import default_rng

from slaq.errors import SlaqError
from slaq.records import NO_WISH, Wish
from slaq.workload.algorithms import ALGORITHMS, algorithm

T = TypeVar("T")


class Planned(Struct, frozen=True):
    """One job to come."""

    name: str
    algorithm: str
    arrival_s: float
    """Seconds after the stream's begin."""
    iterations: int
    seed: int
    wish: Wish = NO_WISH
    """What it declares; Spark's own schedulers are not told."""


def poisson(
    count: int, mean_gap_s: float, seed: int, length: float = 1.0, names: Sequence[str] = tuple(ALGORITHMS)
) -> tuple[Planned, ...]:
    """`count` jobs with exponential gaps, the first at once; every algorithm comes once before any comes again.

    `length` stretches the number of iterations, which also varies by a third from job to job.
    """
    if count < 1 or not mean_gap_s >= 0.0 or not length > 0.0:
        raise SlaqError(
            f"a stream of {count} jobs, {mean_gap_s} s apart, {length} times their length: give 1 job or more, "
            "a gap of 0 s or more and a length above 0"
        )
    random = default_rng(seed)
    order = [name for _ in range(-(-count // len(names))) for name in random.permutation(list(names))][:count]
    arrivals = [0.0, *random.exponential(mean_gap_s, count - 1).cumsum()] if mean_gap_s else [0.0] * count
    return tuple(
        Planned(
            name=f"{number + 1:02d}-{name}",
            algorithm=str(name),
            arrival_s=float(arrival),
            iterations=max(round(algorithm(name).iterations * length * random.uniform(0.75, 1.25)), 3),
            seed=int(random.integers(1 << 30)),
        )
        for number, (name, arrival) in enumerate(zip(order, arrivals, strict=True))
    )


def queues(applications: int, fits: int, seed: int, length: float = 1.0) -> tuple[tuple[Planned, ...], ...]:
    """A queue of fits for each application, which trains one or two algorithms again and again: always the same ones,
    so that it can be warm."""
    algorithms = tuple(ALGORITHMS)
    if not 1 <= applications <= len(algorithms):
        raise SlaqError(f"{applications} applications: give 1 to {len(algorithms)}, as many as there are algorithms")
    return tuple(
        tuple(
            replace(job, name=f"{number + 1}-{job.name}")
            for job in poisson(fits, 0.0, seed * len(algorithms) + number, length, algorithms[number::applications])
        )
        for number in range(applications)
    )


def in_turn(streams: Sequence[T], policies: Sequence[str]) -> Iterator[tuple[int, T, str]]:
    """Every stream under every policy; which comes first changes from round to round."""
    for number, stream in enumerate(streams):
        shift = number % len(policies)
        for policy in (*policies[shift:], *policies[:shift]):
            yield number, stream, policy

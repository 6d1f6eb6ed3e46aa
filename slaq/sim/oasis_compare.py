"""OASiS beside its baselines on the same workloads, and beside the best that hindsight allows."""

from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from msgspec.structs import replace

from slaq.model import FloatArray, IntArray
from slaq.oasis import Plan
from slaq.sim.oasis_baselines import SCHEMES, run
from slaq.sim.oasis_offline import optimum
from slaq.sim.oasis_setting import Drawn, OasisSetting, draw

PUBLISHED = {
    100: {"oasis": 2966, "fifo": 889, "drf": 2314, "rrh": 680, "dorm": 2686},
    200: {"oasis": 5152, "fifo": 1108, "drf": 1386, "rrh": 1510, "dorm": 3354},
    300: {"oasis": 6682, "fifo": 412, "drf": 887, "rrh": 1856, "dorm": 3939},
    400: {"oasis": 7539, "fifo": 902, "drf": 994, "rrh": 1913, "dorm": 3696},
}
"""Total utility by the number of jobs, read from the drawing of the paper's Figure 3: single runs."""

FEASIBLE, FREE = "feasible", "zero-price"
"""Two baselines without prices: the earliest end for whoever can meet its target, or for everyone who can end."""

NAMES = ("oasis", FEASIBLE, FREE, *SCHEMES)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one scheme made of one workload."""

    utility: float
    ended: float
    """Part of the jobs that ended within the horizon."""
    on_time: float
    """Part of those time-critical jobs that ended which ended by their target."""


def planned(drawn: Drawn, name: str) -> list[Plan | None]:
    """The plans of OASiS or of a baseline without prices, None for a job that was refused."""
    market = drawn.market(priced=name == "oasis")
    found = []
    for request, target in zip(drawn.requests, drawn.targets, strict=True):
        at_target = request.value[min(int(target), len(request.value) - 1)]
        found.append(market.arrive(request, least_value=float(at_target) if name == FEASIBLE else 0.0))
    return found


def ends(drawn: Drawn, name: str) -> IntArray:
    """The slot in which every job ended under a scheme; -1 if it did not."""
    if name in SCHEMES:
        return run(drawn, SCHEMES[name])
    return np.array([-1 if plan is None else plan.finish for plan in planned(drawn, name)])


def outcome(drawn: Drawn, name: str) -> Outcome:
    """Only jobs that ended within the horizon count."""
    ended = ends(drawn, name)
    done = np.flatnonzero(ended >= 0)
    elapsed = np.array([ended[job] - drawn.requests[job].start for job in done], dtype=int)
    utility = sum(float(drawn.requests[job].value[at]) for job, at in zip(done, elapsed, strict=True))
    critical = drawn.urgency[done] > 1.0
    on_time = float(np.mean(elapsed[critical] <= drawn.targets[done][critical])) if critical.any() else 1.0
    return Outcome(utility, len(done) / len(ended), on_time)


def compare(
    setting: OasisSetting, jobs: Iterable[int], seeds: Iterable[int], names: Iterable[str] = NAMES, processes: int = 1
) -> list[dict[str, object]]:
    """A row per number of jobs and scheme: the median over seeds, beside what was published."""
    cases = [(replace(setting, jobs=count), seed) for count in jobs for seed in seeds]
    names = tuple(names)
    if processes > 1:
        with ProcessPoolExecutor(processes) as pool:
            found = list(pool.map(partial(_case, names), cases))
    else:
        found = [_case(names, case) for case in cases]
    rows: list[dict[str, object]] = []
    for count in dict.fromkeys(case[0].jobs for case in cases):
        results = [result for case, result in zip(cases, found, strict=True) if case[0].jobs == count]
        rows += [_row(count, name, results, at) for at, name in enumerate(names)]
    return rows


def _case(names: tuple[str, ...], case: tuple[OasisSetting, int]) -> list[Outcome]:
    drawn = draw(*case)
    return [outcome(drawn, name) for name in names]


def _row(count: int, name: str, results: list[list[Outcome]], at: int) -> dict[str, object]:
    own = np.array([result[at].utility for result in results])
    first = np.array([result[0].utility for result in results])
    return {
        "jobs": count,
        "scheme": name,
        "utility": float(np.median(own)),
        "low": float(own.min()),
        "high": float(own.max()),
        "ratio": float(np.median(first / np.maximum(own, 1e-9))),
        "ended": float(np.mean([result[at].ended for result in results])),
        "critical_on_time": float(np.mean([result[at].on_time for result in results])),
        "published": PUBLISHED.get(count, {}).get(name),
    }


def steepness(setting: OasisSetting, seed: int) -> FloatArray:
    """ln(U/L) of both pools: what the guarantee of the paper is, and how abruptly prices climb."""
    market = draw(setting, seed).market()
    pools = (market.workers, market.servers)
    return np.array([pool.bounds.steepness for pool in pools if pool is not None and pool.bounds is not None])


SMALL_SERVERS = (3, 6, 9, 12)
SMALL_EPOCHS = (5, 20)
"""A tenth of the paper's: with its range next to no job fits into 10 slots of a few servers."""


def offline(setting: OasisSetting, seeds: Iterable[int], processes: int = 1) -> list[dict[str, Any]]:
    """The best total utility in hindsight over that of OASiS, on small instances with exact bounds."""
    cases = [
        (
            replace(
                setting, jobs=10, slots=10, worker_servers=-(-count // 2), side_servers=count // 2, epochs=SMALL_EPOCHS
            ),
            seed,
        )
        for count in SMALL_SERVERS
        for seed in seeds
    ]
    if processes > 1:
        with ProcessPoolExecutor(processes) as pool:
            return list(pool.map(_ratio, cases))
    return [_ratio(case) for case in cases]


def _ratio(case: tuple[OasisSetting, int]) -> dict[str, Any]:
    drawn = draw(*case)
    best, own = optimum(drawn), outcome(drawn, "oasis").utility
    return {
        "servers": case[0].worker_servers + case[0].side_servers,
        "seed": case[1],
        "optimum": best.utility,
        "oasis": own,
        "ratio": best.utility / own if own > 0.0 else 1.0 if best.utility <= 0.0 else float("inf"),
        "proven": best.proven,
    }

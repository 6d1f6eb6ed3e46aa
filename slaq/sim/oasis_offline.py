"""The best total utility that hindsight allows on a small instance, by an integer programme (OASiS §III)."""

from dataclasses import dataclass

import numpy as np

from slaq.oasis import Request
from slaq.sim.oasis_setting import Drawn


@dataclass(frozen=True, slots=True)
class Optimum:
    """What the solver found, and a bound that no plan exceeds: the same if it is proven."""

    utility: float
    bound: float

    @property
    def proven(self) -> bool:
        """Whether nothing better exists, up to the solver's own tolerance."""
        return self.bound <= self.utility * (1.0 + 1e-3) + 1e-6


class _Rows:
    """Rows of a sparse matrix with their limits."""

    def __init__(self) -> None:
        self.at: list[int] = []
        self.column: list[int] = []
        self.value: list[float] = []
        self.high: list[float] = []

    def add(self, columns: list[int], values: list[float], high: float) -> None:
        """Σ values · columns ≤ high."""
        self.at += [len(self.high)] * len(columns)
        self.column += columns
        self.value += values
        self.high.append(high)


def optimum(drawn: Drawn, time_limit_s: float = 20.0) -> Optimum:
    """Needs scipy, which the extra `bench` brings."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    slots, count = drawn.setting.slots, 0
    jobs, value, top, rows = [], [], [], _Rows()
    capacity = (drawn.workers, drawn.servers)
    used: dict[tuple[int, int, int, int], tuple[list[int], list[float]]] = {}
    for request in drawn.requests:
        first, size = count, slots - request.start
        ends = list(range(first, first + size))
        value += [-float(worth) for worth in request.value[:size]]
        top += [1.0] * size
        count += size
        units = []
        for pool, demand in enumerate(_demands(request)):
            shape = (size, len(capacity[pool]))
            units.append(np.arange(count, count + shape[0] * shape[1]).reshape(shape))
            value += [0.0] * units[-1].size
            top += [float(request.width)] * units[-1].size
            count += units[-1].size
            for (at, server), column in np.ndenumerate(units[-1]):
                for resource in np.flatnonzero(demand > 0.0):
                    columns, values = used.setdefault((pool, request.start + at, server, int(resource)), ([], []))
                    columns.append(int(column))
                    values.append(float(demand[resource]))
        jobs.append((request, ends, units))
    for request, ends, units in jobs:
        _limits(rows, request, ends, units)
    for (pool, _, server, kind), (columns, values) in used.items():
        rows.add(columns, values, float(capacity[pool][server, kind]))
    matrix = csr_array((rows.value, (rows.at, rows.column)), shape=(len(rows.high), count))
    found = milp(
        np.array(value),
        constraints=LinearConstraint(matrix, -np.inf, np.array(rows.high)),
        integrality=np.ones(count),
        bounds=Bounds(0.0, np.array(top)),
        options={"time_limit": time_limit_s, "mip_rel_gap": 1e-3},
    )
    bound = -found.mip_dual_bound if found.mip_dual_bound is not None else float("inf")
    return Optimum(0.0 if found.fun is None else -float(found.fun), float(bound))


def _demands(request: Request) -> tuple[np.ndarray, ...]:
    return (request.demand,) if request.side is None else (request.demand, request.side.demand)


def _limits(rows: _Rows, request: Request, ends: list[int], units: list[np.ndarray]) -> None:
    """One end at most; the work is done if there is one; nothing runs after it; parameter servers keep up."""
    rows.add(ends, [1.0] * len(ends), 1.0)
    workers = units[0]
    rows.add([*ends, *workers.ravel().tolist()], [float(request.work)] * len(ends) + [-1.0] * workers.size, 0.0)
    for at in range(len(ends)):
        row = workers[at].tolist()
        later = ends[at:]
        rows.add([*row, *later], [1.0] * len(row) + [-float(request.width)] * len(later), 0.0)
        if request.side is not None:
            beside = units[1][at].tolist()
            rows.add([*row, *beside], [request.side.each] * len(row) + [-1.0] * len(beside), 0.0)

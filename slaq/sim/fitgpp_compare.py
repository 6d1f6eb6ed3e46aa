"""FitGpp beside its baselines on the same sets of jobs: slowdowns, preemptions, re-scheduling intervals."""

from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from msgspec.structs import replace

from slaq.model import BoolArray, FloatArray
from slaq.sim.fitgpp_cluster import DISCIPLINES, Cluster, Outcome
from slaq.sim.fitgpp_workload import SWITCHES, FitGppSetting, Jobs, draw

PUBLISHED = {"te_p95": -0.966, "be_p50": 0.180, "be_p95": 0.239}
"""FitGpp against FIFO, by the paper's abstract; no other value of its tables is known."""

PERCENTILES = (50, 95, 99)
EDGE = 0.05
"""Part of a set's first and of its last jobs that is left out: the cluster fills and drains."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What one discipline made of one set of jobs."""

    te: FloatArray
    """Slowdowns of the TE jobs."""
    be: FloatArray
    te_delay_s: FloatArray
    preemptions: FloatArray
    """Of every BE job."""
    intervals_s: FloatArray
    away_s: FloatArray
    """Grace periods and queueing after them, of every BE job that was preempted."""
    fallbacks: float
    """Of the TE jobs, the part without a candidate at least once."""
    lost: float
    """Of the capacity (GPU) until the last arrival, the part held in grace periods."""


def slowdowns(setting: FitGppSetting, jobs: Jobs, outcome: Outcome) -> FloatArray:
    """1 + waiting / execution of every job; lost work and restarts count as waiting."""
    waited_s = outcome.ended_s - outcome.arrived_s - jobs.exec_s
    if setting.grace_counts == "execution":
        return 1.0 + (waited_s - outcome.in_grace_s) / (jobs.exec_s + outcome.in_grace_s)
    return 1.0 + waited_s / jobs.exec_s


def measured(setting: FitGppSetting, jobs: Jobs, outcome: Outcome) -> Measured:
    """The numbers of one run."""
    count = len(jobs.te)
    inner: BoolArray = np.zeros(count, dtype=bool)
    inner[int(count * EDGE) : count - int(count * EDGE)] = True
    slowdown, be = slowdowns(setting, jobs, outcome), ~jobs.te
    te_count = max(int(jobs.te.sum()), 1)
    away_s = outcome.ended_s - outcome.first_s - jobs.exec_s
    held = float((outcome.in_grace_s * jobs.demand[:, 2]).sum())
    return Measured(
        slowdown[inner & jobs.te],
        slowdown[inner & be],
        (outcome.first_s - outcome.arrived_s)[inner & jobs.te],
        outcome.preemptions[be],
        np.array(outcome.intervals_s),
        away_s[be & (outcome.preemptions > 0)],
        outcome.fallbacks / te_count,
        held / max(float(outcome.arrived_s.max()) * setting.nodes * 8.0, 1e-9),
    )


def run_set(setting: FitGppSetting, disciplines: tuple[str, ...], seed: int) -> list[Measured]:
    """One set of jobs under each discipline, with the arrivals that keep FIFO at the setting's load."""
    jobs = draw(setting, seed)
    arrived_s = Cluster(replace(setting, blocking="strict"), jobs, None, "fifo").run().arrived_s
    return [measured(setting, jobs, Cluster(setting, jobs, arrived_s, name, seed).run()) for name in disciplines]


def compare(
    setting: FitGppSetting,
    seeds: Iterable[int],
    disciplines: tuple[str, ...] = DISCIPLINES,
    processes: int = 1,
) -> list[dict[str, Any]]:
    """A row per discipline over the jobs of all sets together; FIFO, the measure of changes, comes first."""
    if disciplines[:1] != ("fifo",):
        disciplines = ("fifo", *(name for name in disciplines if name != "fifo"))
    work = partial(run_set, setting, disciplines)
    if processes > 1:
        with ProcessPoolExecutor(processes) as pool:
            sets = list(pool.map(work, seeds))
    else:
        sets = [work(seed) for seed in seeds]
    rows = [_row(name, [found[at] for found in sets]) for at, name in enumerate(disciplines)]
    for row in rows:
        row["change"] = {key: row[key] / rows[0][key] - 1.0 if rows[0][key] else None for key in PUBLISHED}
    return rows


def _row(name: str, sets: list[Measured]) -> dict[str, Any]:
    row: dict[str, Any] = {"discipline": name}
    for kind in ("te", "be"):
        pooled = np.concatenate([getattr(one, kind) for one in sets])
        row |= {f"{kind}_p{at}": _percentile(pooled, at) for at in PERCENTILES}
    by_set = [_percentile(one.te, 95) for one in sets]
    preemptions = np.concatenate([one.preemptions for one in sets])
    intervals_s = np.concatenate([one.intervals_s for one in sets])
    away_s = np.concatenate([one.away_s for one in sets])
    return row | {
        "te_p95_by_set": by_set,
        "te_delay_p95_s": _percentile(np.concatenate([one.te_delay_s for one in sets]), 95),
        "preempted": {str(least): float(np.mean(preemptions >= least)) for least in (1, 2, 3)},
        "most_preemptions": int(preemptions.max(initial=0.0)),
        "interval_p50_s": _percentile(intervals_s, 50),
        "interval_p95_s": _percentile(intervals_s, 95),
        "away_p50_s": _percentile(away_s, 50),
        "away_p95_s": _percentile(away_s, 95),
        "fallbacks": float(np.mean([one.fallbacks for one in sets])),
        "lost_capacity": float(np.mean([one.lost for one in sets])),
    }


def _percentile(values: FloatArray, at: float) -> float | None:
    """None without values."""
    return float(np.percentile(values, at)) if len(values) else None


def switched(setting: FitGppSetting) -> list[tuple[str, FitGppSetting]]:
    """The setting with every single change of a switch, by `name=value`."""
    return [
        (f"{name}={value}", replace(setting, **{name: value}))
        for name, values in SWITCHES.items()
        for value in values
        if value != getattr(setting, name)
    ]

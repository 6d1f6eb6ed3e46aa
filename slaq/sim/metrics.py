"""What a simulation is judged by: per run, and over seeds with confidence intervals."""

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from slaq.model import FloatArray, IntArray
from slaq.sim.clock import Simulation
from slaq.sim.timeline import normalised

GOALS = (0.9, 0.95, 0.99)

STUDENT = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604, 2.1448,
    2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484,
    2.0452, 2.0423,
)  # fmt: skip
"""Half-widths of the 95 % interval of Student's t, in standard errors, for 1, 2, 3 … degrees of freedom."""

NORMAL = 1.9600
"""The same of the normal distribution."""

MEASURES = ("avg_loss", "sum_loss", "t90_s", "t95_s", "t99_s", "completion_s")
"""The measures that are compared with those of `fair`; less is better for all of them."""


class Outcome(Struct, frozen=True):
    """One policy on one workload; times are means over jobs, from arrival."""

    avg_loss: float
    """`Timeline.mean_loss` averaged over the middle third of the arrivals, as the paper shows 800 of some 2,400 s:
    neither the cluster that fills nor the one that empties counts."""
    sum_loss: float
    """The same, summed over the active jobs: unlike the mean, it does not improve by keeping jobs waiting."""
    t90_s: float
    t95_s: float
    t99_s: float
    completion_s: float
    t90_p95_s: float
    completion_p95_s: float
    others_completion_s: float
    """Completion of the jobs that train nothing; NaN without any."""
    group_cores: tuple[float, ...]
    """Mean share of the cores held by the quarter of jobs with the highest loss, the next quarter, the lower half."""
    active: float
    """Mean number of active training jobs, over the same time as the losses."""
    prediction_error: float
    unfinished: int
    """Jobs that would have finished but had not when the simulation stopped."""
    t90_by_job: tuple[float, ...]
    completion_by_job: tuple[float, ...]


def outcome(simulation: Simulation) -> Outcome:
    """The measures of a simulation; jobs that crash count for the losses, but not for the times."""
    workload, timeline = simulation.workload, simulation.timeline
    jobs = np.flatnonzero(workload.ml & workload.finishes)
    arrival_s = workload.arrival_s
    reach = [_reached(simulation, jobs, goal) for goal in GOALS]
    done = _elapsed(simulation, jobs, workload.length[jobs])
    others = np.flatnonzero(~workload.ml & workload.finishes)
    last_s = float(arrival_s[-1])
    window = (timeline.time_s >= last_s / 3.0) & (timeline.time_s <= last_s * 2.0 / 3.0)
    if not window.any():
        window = np.ones(len(timeline.time_s), dtype=bool)
    return Outcome(
        avg_loss=_mean(timeline.mean_loss[window]),
        sum_loss=_mean((timeline.mean_loss * timeline.active)[window]),
        t90_s=_mean(reach[0]),
        t95_s=_mean(reach[1]),
        t99_s=_mean(reach[2]),
        completion_s=_mean(done),
        t90_p95_s=_p95(reach[0]),
        completion_p95_s=_p95(done),
        others_completion_s=_mean(_elapsed(simulation, others, workload.length[others])),
        group_cores=tuple(_mean(column) for column in timeline.group_cores[window].T),
        active=_mean(timeline.active[window].astype(np.float64)),
        prediction_error=timeline.prediction_error,
        unfinished=int(np.isnan(done).sum()),
        t90_by_job=tuple(reach[0].tolist()),
        completion_by_job=tuple(done.tolist()),
    )


def summary(name: str, outcomes: Sequence[Outcome], fair: Sequence[Outcome]) -> dict[str, object]:
    """A policy over all seeds: every measure as mean, half-width of its confidence interval and ratio to `fair`.

    Ratios are taken seed by seed, both policies having had the same jobs, and then averaged.
    """
    facts: dict[str, object] = {"policy": name, "seeds": len(outcomes)}
    for measure in MEASURES:
        values = np.array([getattr(one, measure) for one in outcomes])
        against = np.array([getattr(one, measure) for one in fair])
        facts[measure] = _finite(_mean(values))
        facts[f"{measure}_ci"] = _finite(_half_width(values))
        facts[f"{measure}_ratio"] = _finite(_mean(values / against))
        facts[f"{measure}_ratio_ci"] = _finite(_half_width(values / against))
    for measure in ("t90_p95_s", "completion_p95_s", "others_completion_s", "active", "prediction_error"):
        facts[measure] = _finite(_mean(np.array([getattr(one, measure) for one in outcomes])))
    facts["group_cores"] = [_finite(_mean(column)) for column in np.array([one.group_cores for one in outcomes]).T]
    facts["worst_t90_slowdown"] = _finite(_worst(outcomes, fair, "t90_by_job"))
    facts["worst_completion_slowdown"] = _finite(_worst(outcomes, fair, "completion_by_job"))
    facts["unfinished"] = sum(one.unfinished for one in outcomes)
    return facts


def _reached(simulation: Simulation, jobs: IntArray, goal: float) -> FloatArray:
    # A little slack for rounding: the last loss of a run may be exactly its goal.
    iteration = np.argmax(normalised(simulation.workload)[jobs] <= 1.0 - goal + 1e-12, axis=1)
    return _elapsed(simulation, jobs, np.minimum(iteration, simulation.workload.length[jobs]))


def _elapsed(simulation: Simulation, jobs: IntArray, iteration: IntArray) -> FloatArray:
    return np.asarray(simulation.finish_s[jobs, iteration] - simulation.workload.arrival_s[jobs])


def _worst(outcomes: Sequence[Outcome], fair: Sequence[Outcome], field: str) -> float:
    """The largest slowdown of any job of any seed against the same job under `fair`."""
    ratios = [np.array(getattr(a, field)) / np.array(getattr(b, field)) for a, b in zip(outcomes, fair, strict=True)]
    known = np.concatenate(ratios)
    known = known[np.isfinite(known)]
    return float(known.max()) if len(known) else float("nan")


def _mean(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def _p95(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(np.quantile(known, 0.95)) if len(known) else float("nan")


def _half_width(values: FloatArray) -> float:
    """Half the width of the 95 % confidence interval of the mean; NaN for a single seed."""
    freedom = len(values) - 1
    if freedom < 1:
        return float("nan")
    # Beyond the table the excess over the normal distribution falls with the degrees of freedom.
    student = NORMAL + (STUDENT[-1] - NORMAL) * len(STUDENT) / freedom
    width = STUDENT[freedom - 1] if freedom <= len(STUDENT) else student
    return width * float(values.std(ddof=1)) / math.sqrt(len(values))


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None

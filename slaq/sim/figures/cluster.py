"""Figures 3, 7, 8, 9, 10b: about jobs that share a cluster."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from msgspec import structs

from slaq.model import FloatArray, History, Report
from slaq.model.history import COSTS_KEPT
from slaq.predict.runtime import learn_runtime
from slaq.sim.clock import Simulation
from slaq.sim.compare import Comparison, compare, run_one
from slaq.sim.contenders import PUBLISHED
from slaq.sim.curves import Curve
from slaq.sim.timeline import normalised
from slaq.sim.workload import Setting

POLICIES = ("fair", PUBLISHED, "max-total", "finish-line")
SHARES = (0.25, 0.5, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99, 1.0)
GAPS = (10.0, 8.0, 6.0, 4.0)
AGES_S = np.arange(0.0, 301.0, 3.0)

SPREAD = 0.05
"""Figure 10b: standard deviation of the work of a job's iterations, in means."""

Tell = Callable[[str], None]


def shared_cluster(setting: Setting, curves: Sequence[Curve], seeds: Sequence[int]) -> dict[str, Any]:
    """Figures 3, 7 and 8, from the same runs: the timeline of the first seed, times over all seeds."""
    comparison = Comparison(POLICIES, setting, tuple(curves), tuple(seeds))
    runs = {name: [run_one(comparison, name, seed) for seed in seeds] for name in POLICIES}
    return {
        "one_job": _one_job({name: found[0] for name, found in runs.items()}),
        "average_loss": {name: _average_loss(found[0]) for name, found in runs.items()},
        "time_to": {"shares": list(SHARES), **{name: _times(found) for name, found in runs.items()}},
        "core_groups": _core_groups(runs["max-total"]),
        "by_age": {"age_s": AGES_S.tolist(), **{name: _by_age(found) for name, found in runs.items()}},
    }


def _one_job(runs: dict[str, Simulation]) -> dict[str, Any]:
    """Figure 3: the loss of one job over time; the job whose time to 90 % under fair is the median."""
    fair = runs["fair"]
    loss = normalised(fair.workload)
    goal = np.argmax(loss <= 0.1, axis=1)
    jobs = np.arange(len(loss))
    to_goal = fair.finish_s[jobs, goal] - fair.workload.arrival_s
    job = int(np.argsort(to_goal)[len(jobs) // 2])
    length = int(fair.workload.length[job])
    found: dict[str, Any] = {"algorithm": fair.workload.algorithm[job]}
    for name, run in runs.items():
        at_s = run.finish_s[job, : length + 1] - run.workload.arrival_s[job]
        at_s[0] = 0.0
        found[name] = {
            "time_s": at_s.tolist(),
            "loss": loss[job, : length + 1].tolist(),
            "t90_s": float(at_s[goal[job]]),
        }
    return found


def _average_loss(run: Simulation) -> dict[str, Any]:
    """Figure 7a: the middle third of the arrivals."""
    timeline, last_s = run.timeline, float(run.workload.arrival_s[-1])
    window = (timeline.time_s >= last_s / 3.0) & (timeline.time_s <= 2.0 * last_s / 3.0)
    return {"time_s": timeline.time_s[window].tolist(), "mean_loss": timeline.mean_loss[window].tolist()}


def _times(runs: Sequence[Simulation]) -> list[float]:
    """Figure 7b: mean seconds to each of SHARES."""
    columns = []
    for run in runs:
        loss, jobs = normalised(run.workload), np.arange(len(run.workload))
        goals = [np.argmax(loss <= 1.0 - share + 1e-12, axis=1) for share in SHARES[:-1]] + [run.workload.length]
        columns.append([float(np.mean(run.finish_s[jobs, goal] - run.workload.arrival_s)) for goal in goals])
    means: list[float] = np.mean(columns, axis=0).tolist()
    return means


def _by_age(runs: Sequence[Simulation]) -> list[float]:
    """The share of its loss reduction that a job has reached at each of AGES_S after it came, mean over all jobs."""
    reached = []
    for run in runs:
        ages_s = run.finish_s - run.workload.arrival_s[:, None]
        for job, loss in enumerate(normalised(run.workload)):
            ended = int(run.workload.length[job]) + 1
            iterations = np.searchsorted(ages_s[job, 1:ended], AGES_S, side="right")
            reached.append(1.0 - loss[iterations])
    means: list[float] = np.mean(reached, axis=0).tolist()
    return means


def _core_groups(runs: Sequence[Simulation]) -> dict[str, Any]:
    """Figure 8: shares of the cores by loss group, over the arrivals of the first run; means over all runs."""
    timeline, last_s = runs[0].timeline, float(runs[0].workload.arrival_s[-1])
    window = (timeline.time_s <= last_s) & ~np.isnan(timeline.group_cores[:, 0])
    means = np.mean([_mean_shares(run) for run in runs], axis=0)
    return {
        "time_s": timeline.time_s[window].tolist(),
        "shares": timeline.group_cores[window].tolist(),
        "mean_shares": means.tolist(),
    }


def _mean_shares(run: Simulation) -> FloatArray:
    arriving = run.timeline.time_s <= run.workload.arrival_s[-1]
    return np.asarray(np.nanmean(run.timeline.group_cores[arriving], axis=0))


def by_contention(setting: Setting, curves: Sequence[Curve], seeds: Sequence[int], tell: Tell) -> dict[str, Any]:
    """Figure 9: times with more and more frequent arrivals.

    The paper's second experiment had lighter jobs than its first, or arrivals every 4 s could not have been served:
    the work is scaled so that the load at 4 s equals that of the first experiment at 15 s.
    """
    found: dict[str, Any] = {"gap_s": list(GAPS)}
    for gap_s in GAPS:
        tell(f"figure 9, a job every {gap_s:g} s")
        there = structs.replace(setting, gap_s=gap_s, work_core_s=setting.work_core_s * GAPS[-1] / setting.gap_s)
        for facts in compare(Comparison(POLICIES, there, tuple(curves), tuple(seeds))):
            one = found.setdefault(str(facts["policy"]), {"t90_s": [], "t95_s": []})
            one["t90_s"].append(facts["t90_s"])
            one["t95_s"].append(facts["t95_s"])
    return found


def iteration_times(cores: Sequence[int] = (8, 16, 32, 64, 128, 256)) -> dict[str, Any]:
    """Figure 10b: true and predicted seconds of an iteration of 100 core-seconds, learned from iterations that vary."""
    found: dict[str, Any] = {"cores": list(cores)}
    held = np.array(cores, dtype=np.float64)
    rng = np.random.default_rng(0)
    for serial in (0.0, 0.01, 0.05):
        history = History()
        for i, size in enumerate(rng.normal(100.0, 100.0 * SPREAD, COSTS_KEPT)):
            history = history.add(Report(1.0 / (i + 1), i, float(size) * (1.0 - serial), float(size) * serial))
        model = learn_runtime([history])
        predicted = 1.0 / model.iterations(np.zeros(len(cores), dtype=np.int64), held, 1.0)
        found[f"serial {serial:.0%}"] = {
            "true_s": (100.0 * serial + 100.0 * (1.0 - serial) / held).tolist(),
            "predicted_s": predicted.tolist(),
        }
    return found

"""`slaq bench decide`: a whole decision, and the same the way the paper describes it."""

import gc
import resource
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import click
import numpy as np

from slaq.bench._algorithm_1 import algorithm_1
from slaq.bench._arrival import arrival_s
from slaq.bench._baselines import BASELINES
from slaq.bench._output import emit, format_option
from slaq.engine import Allocated, EpochEnded, JobJoined, JobReported, State, run, step
from slaq.model import History, Job, Report
from slaq.model.history import LOSSES_KEPT
from slaq.predict import LEARNED

POINTS = 50
EPOCH_S = 3.0
FITS_TIMED = 40
MEMORY_JOBS = 200
WARM_UP_EPOCHS = LOSSES_KEPT + 50
POLICY = "max-total"
"""The paper's policy, on both sides."""


@click.command(help=__doc__)
@click.option("--jobs", default=4000, show_default=True, type=click.IntRange(min=1), help="Concurrent jobs.")
@click.option("--cores", default=16000, show_default=True, type=click.IntRange(min=1), help="Cores to share out.")
@click.option("--repeats", default=7, show_default=True, type=click.IntRange(min=1), help="Decisions timed.")
@click.option("--epochs", default=1000, show_default=True, help="Epochs of the memory check; 0 leaves it out.")
@format_option
def command(jobs: int, cores: int, repeats: int, epochs: int, output_format: str) -> None:
    memory = (
        _memory(epochs) if epochs else None
    )  # first: it is the peak that is measured, and the large decisions come later
    decision_s = _median_s(_decision(jobs, cores), repeats)
    weighted_fit_s = _median_s(_decision(jobs, cores, "weighted-fit"), repeats)
    ten_times_s = _median_s(_decision(10 * jobs, 10 * cores), max(repeats // 2, 1))
    literal_s = _literal_s(jobs, cores)
    arriving_s, planned_s = arrival_s(jobs, cores, repeats)
    facts: dict[str, Any] = {
        "jobs": jobs,
        "cores": cores,
        "points": POINTS,
        "policy": POLICY,
        "decision_s": decision_s,
        "weighted_fit_s": weighted_fit_s,
        "literal_s": literal_s,
        "speedup": literal_s / decision_s,
        "oasis_arrival_s": arriving_s,
        "oasis_planned_s": planned_s,
        "ten_times_s": ten_times_s,
        "ten_times_ratio": ten_times_s / decision_s,
    }
    rows: list[dict[str, object]] = [
        {
            "a whole epoch decision": f"literal ({FITS_TIMED} fits timed, scaled; heap whole)",
            "CPU s": literal_s,
            "ratio": 1.0,
        },
        {"a whole epoch decision": "SLAQ", "CPU s": decision_s, "ratio": decision_s / literal_s},
        {
            "a whole epoch decision": "SLAQ, predictor weighted-fit",
            "CPU s": weighted_fit_s,
            "ratio": weighted_fit_s / literal_s,
        },
        {
            "a whole epoch decision": "SLAQ, ten times the jobs and cores",
            "CPU s": ten_times_s,
            "ratio": ten_times_s / literal_s,
        },
    ]
    rows += [
        {"a whole epoch decision": f"oasis alone, {text}", "CPU s": seconds, "ratio": seconds / literal_s}
        for text, seconds in (("everyone planned", planned_s), ("and an arrival to plan", arriving_s))
    ]
    if memory:
        facts["memory"] = memory
        growth = f"memory after {epochs} epochs of {MEMORY_JOBS} reporting jobs: {memory['growth_mib']:+.1f} MiB"
        rows.append({"a whole epoch decision": growth, "CPU s": "", "ratio": ""})
    emit(
        output_format,
        facts,
        f"{jobs} jobs × {POINTS} losses, {cores} cores: speedup {facts['speedup']:.0f}",
        rows,
    )


def _curves(jobs: int) -> np.ndarray:
    """Loss curves of the paper's two families with 1 % noise, at every stage of training."""
    rng = np.random.default_rng(17)
    k = rng.integers(0, 40, size=(jobs, 1)) + np.arange(POINTS)
    linear = rng.uniform(0.7, 0.99, size=(jobs, 1)) ** k
    sublinear = 1.0 / (1.0 + rng.uniform(0.02, 1.0, size=(jobs, 1)) * k)
    curve = np.where(rng.random((jobs, 1)) < 0.5, linear, sublinear)
    noise = 1.0 + 0.01 * rng.standard_normal((jobs, POINTS))
    return np.asarray(10.0 ** rng.uniform(-2, 4, size=(jobs, 1)) * (0.1 + curve * noise))


def _history(losses: list[float], work_core_s: float) -> History:
    history = History()
    for number, loss in enumerate(losses):
        history = history.add(Report(loss, number, work_core_s, 0.0))
    return history


def _decision(jobs: int, cores: int, predictor: str = LEARNED) -> Callable[[], object]:
    """One epoch of the engine: fit every history anew, allocate every core, give every job its reason as a sentence."""
    work = np.random.default_rng(18).uniform(0.5, 20.0, size=jobs)
    members = [
        Job(f"job-{i}", history=_history(losses, float(work[i]))) for i, losses in enumerate(_curves(jobs).tolist())
    ]
    empty = State(cores=cores, epoch_s=EPOCH_S, policy=POLICY, predictor=predictor)
    state, _ = run(empty, [JobJoined(0.0, job) for job in members])

    def decide() -> object:
        _, effects = step(state, EpochEnded(EPOCH_S))
        (allocated,) = effects
        assert isinstance(allocated, Allocated)
        return [str(reason) for reason in allocated.decision.reasons.values()]

    return decide


def _median_s(work: Callable[[], object], repeats: int) -> float:
    work()
    times = []
    for _ in range(repeats):
        gc.collect()
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return statistics.median(times)


def _literal_s(jobs: int, cores: int) -> float:
    """CPU seconds of the paper's way: two weighted scipy fits per job (a sample, scaled) and the heap."""
    curves = _curves(jobs)
    fit = BASELINES["scipy-fit"]
    sample = min(FITS_TIMED, jobs)
    ahead = np.arange(1.0, 11.0)
    begun = time.process_time()
    for i in range(sample):
        fit(curves[i], ahead)
    fits_s = (time.process_time() - begun) / sample * jobs
    rate = np.random.default_rng(18).uniform(0.05, 3.0, size=jobs).tolist()
    begun = time.process_time()
    algorithm_1(lambda job, held: 1.0 - 0.9 ** (rate[job] * held), [1.0] * jobs, [float(cores)] * jobs, cores)
    return fits_s + time.process_time() - begun


def _memory(epochs: int) -> dict[str, float]:
    """Growth of resident memory over many epochs in which every job reports, once all histories are full."""
    state, _ = run(State(cores=4 * MEMORY_JOBS), [JobJoined(0.0, Job(f"job-{i}")) for i in range(MEMORY_JOBS)])
    warm_mib = 0.0
    for epoch in range(1, WARM_UP_EPOCHS + epochs + 1):
        reports = [
            JobReported(float(epoch), job_id, (Report(1.0 / (epoch + i % 7), epoch, 2.0, 0.0),))
            for i, job_id in enumerate(state.jobs)
        ]
        state, _ = run(state, [*reports, EpochEnded(float(epoch))])
        if epoch == WARM_UP_EPOCHS:
            warm_mib = _peak_mib()
    return {"epochs": epochs, "jobs": MEMORY_JOBS, "warm_mib": warm_mib, "growth_mib": _peak_mib() - warm_mib}


def _peak_mib() -> float:
    gc.collect()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 1024)

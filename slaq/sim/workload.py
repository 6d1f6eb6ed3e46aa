"""A workload: who arrives when, follows which loss curve, and at what cost. Drawn from a setting and a seed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from msgspec import Struct

from slaq.errors import SlaqError
from slaq.model import BoolArray, FloatArray, IntArray, Job
from slaq.sim.curves import Curve

PAPER_WORK_CORE_S = 128.0
"""Core-seconds of an average iteration in the paper's setting. With 640 cores and an arrival every 15 s, it makes
`fair` bring a job to 90 % of its loss reduction in about the 71 s that the paper measured (§6.2.1)."""


class Setting(Struct, frozen=True, kw_only=True):
    """What a workload is drawn from; the defaults are the paper's (§6.1, §6.2.1)."""

    jobs: int = 160
    cores: int = 640
    gap_s: float = 15.0
    """Mean of the exponential gaps between arrivals; 0: all at once."""
    epoch_s: float = 3.0
    iterations: int = 100
    """A job is done after so many iterations, or where its curve ends."""
    work_core_s: float = PAPER_WORK_CORE_S
    """Mean work of an iteration."""
    work_spread: float = 0.5
    """Standard deviation of the logarithm of the jobs' work: 0.5 puts nine in ten within a factor of five."""
    cap: float = math.inf
    """Cores one job can use: its partitions."""
    serial: float = 0.0
    """Share of an iteration that more cores do not speed up (Amdahl)."""
    switch_s: float = 0.0
    """Seconds after a reallocation in which newly given cores do nothing yet."""
    noise: float = 0.0
    """Standard deviation of the logarithm of iteration times around a job's own mean."""
    crash: float = 0.0
    """Share of jobs that end before they are done."""
    nonsense: float = 0.0
    """Share of jobs one in four of whose reports is NaN, infinite or out of range."""
    others: float = 0.0
    """Share of jobs that train nothing: other work on the same cluster."""
    unnamed: float = 0.0
    """Share of jobs that do not name their estimator, as an optimizer of one's own."""


@dataclass(frozen=True)
class Workload:
    """One entry (or row) per job, in order of arrival."""

    declared: tuple[Job, ...]
    """What each job declares when it joins."""
    arrival_s: FloatArray
    losses: FloatArray
    """Loss after each iteration; jobs × iterations + 1, the last loss repeated where a job ends earlier."""
    reported: FloatArray
    """The loss that a job reports; differs from `losses` where it reports nonsense. NaN before the first iteration: the
    job does not know its loss before training."""
    cost: FloatArray
    """Iterations' worth of work until each iteration is done, beginning with 0: 0, 1, 2 … without noise."""
    length: IntArray
    """Iterations until the job ends."""
    finishes: BoolArray
    """False for a job that crashes."""
    work_core_s: FloatArray
    """Core-seconds that the tasks of an average iteration hold."""
    serial_s: FloatArray
    """Seconds of an average iteration without a stage to run."""
    algorithm: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.declared)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The id of each job."""
        return tuple(job.id for job in self.declared)

    @cached_property
    def ml(self) -> BoolArray:
        """Which jobs train."""
        return np.array([job.ml for job in self.declared], dtype=bool)

    @cached_property
    def cap(self) -> FloatArray:
        """The most cores each job can use."""
        return np.array([job.max_cores for job in self.declared])


def draw(setting: Setting, curves: Sequence[Curve], seed: int) -> Workload:
    """The workload of a setting and a seed; jobs follow the curves in a random order, each as often as any other."""
    if setting.jobs < 1 or not curves:
        raise SlaqError(f"a workload of {setting.jobs} jobs from {len(curves)} curves is empty; give at least one each")
    rng = np.random.default_rng(seed)
    count = setting.jobs
    rounds = -(-count // len(curves))
    chosen = np.concatenate([rng.permutation(len(curves)) for _ in range(rounds)])[:count]
    gaps = rng.exponential(setting.gap_s, size=count) if setting.gap_s > 0.0 else np.zeros(count)
    gaps[0] = 0.0
    # exp(−s²/2) keeps the mean of a lognormal factor at 1.
    spread, noise = setting.work_spread, setting.noise
    work = setting.work_core_s * np.exp(spread * rng.standard_normal(count) - spread**2 / 2.0)
    times = np.exp(noise * rng.standard_normal((count, setting.iterations)) - noise**2 / 2.0)
    followed = [curves[i] for i in chosen]
    losses, length = _rows(followed, setting.iterations)
    crashes = rng.random(count) < setting.crash
    length = np.where(crashes, rng.integers(1, np.maximum(length, 2)), length)
    reported = _with_nonsense(losses, rng.random(count) < setting.nonsense, rng)
    trains = rng.random(count) >= setting.others
    named = rng.random(count) >= setting.unnamed
    return Workload(
        declared=_declared(setting, followed, trains, named),
        arrival_s=np.cumsum(gaps),
        losses=losses,
        reported=reported,
        cost=np.hstack([np.zeros((count, 1)), np.cumsum(times, axis=1)]),
        length=length,
        finishes=~crashes,
        work_core_s=work * (1.0 - setting.serial),
        serial_s=work * setting.serial,
        algorithm=tuple(curve.algorithm for curve in followed),
    )


def _declared(setting: Setting, curves: Sequence[Curve], trains: BoolArray, named: BoolArray) -> tuple[Job, ...]:
    """What the jobs say of themselves, as a driver would: not the work, nor where the curve ends."""
    digits = len(str(setting.jobs - 1))
    return tuple(
        Job(
            f"job-{i:0{digits}d}",
            max_cores=setting.cap,
            max_iterations=min(curve.max_iterations or setting.iterations, setting.iterations),
            ml=bool(trains[i]),
            estimator=curve.estimator if trains[i] and named[i] else "",
        )
        for i, curve in enumerate(curves)
    )


def _rows(curves: Sequence[Curve], iterations: int) -> tuple[FloatArray, IntArray]:
    """Curves as rows of equal length, and how many iterations each really has."""
    losses = np.empty((len(curves), iterations + 1))
    for row, curve in zip(losses, curves, strict=True):
        part = curve.losses[: iterations + 1]
        row[: len(part)] = part
        row[len(part) :] = part[-1]
    return losses, np.array([min(len(curve.losses) - 1, iterations) for curve in curves])


def _with_nonsense(losses: FloatArray, liars: BoolArray, rng: np.random.Generator) -> FloatArray:
    lies = (rng.random(losses.shape) < 0.25) & liars[:, None]
    nonsense = rng.choice([math.nan, math.inf, -math.inf, 1e308, -1e12], size=losses.shape)
    return np.where(lies, nonsense, losses)

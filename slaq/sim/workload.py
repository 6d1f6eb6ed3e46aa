"""A workload: who arrives when, follows which loss curve, and at what cost. Drawn from a setting and a seed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from msgspec import Struct

from slaq.errors import SlaqError
from slaq.model import FloatArray, IntArray
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
    """Share of jobs that train nothing: work without a loss beside the training."""


@dataclass(frozen=True, slots=True)
class Workload:
    """One entry (or row) per job, in order of arrival."""

    names: tuple[str, ...]
    arrival_s: FloatArray
    losses: FloatArray
    """Loss after each iteration; jobs × iterations + 1, the last loss repeated where a job ends earlier."""
    reported: FloatArray
    """What the job says its loss is; differs from `losses` where it reports nonsense."""
    cost: FloatArray
    """Iterations' worth of work until each iteration is done, beginning with 0: 0, 1, 2 … without noise."""
    length: IntArray
    """Iterations until the job leaves."""
    limit: IntArray
    """Iterations after which the job was told to end, its `maxIter`: all it can say of its length; 0: not known."""
    finishes: np.ndarray
    """False for a job that crashes."""
    ml: np.ndarray
    work_core_s: FloatArray
    serial_s: FloatArray
    cap: FloatArray
    weight: FloatArray
    algorithm: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)


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
    losses, length = _rows([curves[i] for i in chosen], setting.iterations)
    told = [curves[i].max_iterations for i in chosen]
    limit = np.array([min(setting.iterations if most is None else most, setting.iterations) for most in told])
    crashes = rng.random(count) < setting.crash
    length = np.where(crashes, rng.integers(1, np.maximum(length, 2)), length)
    return Workload(
        names=tuple(f"job-{i:0{len(str(count - 1))}d}" for i in range(count)),
        arrival_s=np.cumsum(gaps),
        losses=losses,
        reported=_with_nonsense(losses, rng.random(count) < setting.nonsense, rng),
        cost=np.hstack([np.zeros((count, 1)), np.cumsum(times, axis=1)]),
        length=length,
        limit=limit,
        finishes=~crashes,
        ml=rng.random(count) >= setting.others,
        work_core_s=work * (1.0 - setting.serial),
        serial_s=work * setting.serial,
        cap=np.full(count, setting.cap),
        weight=np.ones(count),
        algorithm=tuple(curves[i].algorithm for i in chosen),
    )


def _rows(curves: Sequence[Curve], iterations: int) -> tuple[FloatArray, IntArray]:
    """Curves as rows of equal length, and how many iterations each really has."""
    losses = np.empty((len(curves), iterations + 1))
    for row, curve in zip(losses, curves, strict=True):
        part = curve.losses[: iterations + 1]
        row[: len(part)] = part
        row[len(part) :] = part[-1]
    return losses, np.array([min(len(curve.losses) - 1, iterations) for curve in curves])


def _with_nonsense(losses: FloatArray, liars: np.ndarray, rng: np.random.Generator) -> FloatArray:
    lies = (rng.random(losses.shape) < 0.25) & liars[:, None]
    nonsense = rng.choice([math.nan, math.inf, -math.inf, 1e308, -1e12], size=losses.shape)
    return np.where(lies, nonsense, losses)

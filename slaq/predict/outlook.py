"""What cores would buy each job in the coming epoch: the loss curve and the runtime model together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from slaq.model import BoolArray, FloatArray, History, IntArray, Job
from slaq.predict.forecast import forecast
from slaq.predict.runtime import Runtime, learn_runtime
from slaq.predict.spacing import evenly_spaced
from slaq.predict.usual import Usual, what_is_usual

HORIZONS = np.array([0, *(2**i for i in range(13))])
"""Iterations ahead at which curves are forecast (0, 1, 2, 4 … 4096); between them gain is linear."""

MORE_TO_READY = 0.5
"""A job that has taken longer than usual to get ready is expected to take this share of it again."""

OPTIMISM = 0.05
"""Share of its recent movement that every job is believed to keep: a job that still moves is never
written off, for a starved job reports nothing that could correct a wrong forecast."""

LEAST_OPTIMISM = 1e-6
"""The same for a job that stands still: cores nobody gains from are spread over all such jobs."""

SETTLED = 1e-3
"""A job with less than this left to gain (of its largest change) is at its limit, good or bad: a loss that
only rises or never moved must not pass for the worst job, which `max-min` would feed without end."""

ROUNDING = 1e-12
"""Changes below this share of the loss are rounding errors."""

FARTHEST = 1e6
"""A target is taken to be at most this many of the job's largest changes away."""

OPTIMISM_LASTS = 64.0
"""Iterations after which that belief has halved."""

_LASTING_HOPE = np.diff(HORIZONS / (1.0 + HORIZONS / OPTIMISM_LASTS)) / np.diff(HORIZONS)
"""What is left of it, per iteration, between the horizons."""

USUAL_LENGTH = 100.0
"""Iterations after which a job that does not tell its `max_iterations` is expected to end at the latest: MLlib's usual
`maxIter`, and the paper's (§6.2.1)."""

TOLERANCE = 1e-8
"""A job is expected to end earlier where an iteration changes its loss by less than this share: MLlib's usual `tol` of
1e-6, and a margin, for a job that is taken to be nearly over too early is put behind others."""

LASTING = 0.3
"""Whatever is expected, a job is believed to last for this share of the iterations it has made already."""

MORE_AHEAD = 2.0
"""A job is taken to have so many times as much ahead as is forecast when it is asked how far a share of its whole loss
reduction is: losses fall on after they seemed to settle, and a job that is believed to be there loses its cores."""


Forecast = Callable[[Sequence[Any], Sequence[int]], FloatArray]
"""forecast(histories, ahead): the loss of each job after each number of further iterations; jobs × ahead."""


@dataclass(frozen=True, slots=True)
class CurveOutlook:
    """The outlook of every job as a concave, piecewise linear gain over the iterations ahead."""

    runtime: Runtime
    epoch_s: float
    max_cores: FloatArray
    gain: FloatArray
    """Loss reduction, in units of the largest change, after each of HORIZONS; jobs × horizons."""
    slope: FloatArray
    """Gain per iteration from each horizon on."""
    achieved: FloatArray
    """Loss reduction so far, in the same unit."""
    left: FloatArray
    """Iterations until the job is expected to end, at least 1."""
    usual: Usual

    def reduction(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """See Outlook.reduction."""
        return self._gain_after(job, self.ahead(job, cores))

    def loss(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """See Outlook.loss."""
        limit, whole = self._limit_and_whole(job)
        left = np.clip((limit - self.reduction(job, cores)) / whole, 0.0, 1.0)
        return np.where(limit > SETTLED, left, 0.0)

    def ahead(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """See Outlook.ahead."""
        useful = np.minimum(cores, self.max_cores[job])
        ahead: FloatArray = np.minimum(self.runtime.iterations(job, useful, self.epoch_s), HORIZONS[-1])
        return ahead

    def until(self, share: float) -> FloatArray:
        """See Outlook.until."""
        if share >= 1.0:
            return self.left
        everyone = np.arange(len(self.left))
        limit, whole = self._limit_and_whole(everyone, MORE_AHEAD)
        goal = np.where(limit > SETTLED, np.maximum(limit - (1.0 - share) * whole, 0.0), 0.0)
        segment = np.count_nonzero(self.gain[:, 1:-1] < goal[:, None], axis=1)
        beyond = (goal - self.gain[everyone, segment]) / np.maximum(self.slope[everyone, segment], LEAST_OPTIMISM)
        reached: FloatArray = np.minimum(HORIZONS[segment] + np.maximum(beyond, 0.0), self.left)
        return np.minimum(reached, self.usual.left(share))

    def _limit_and_whole(self, job: IntArray, more_ahead: float = 1.0) -> tuple[FloatArray, FloatArray]:
        """The gain until a job's expected end, and its whole loss reduction with what it has achieved.

        To have so many times more ahead is to have made so much less of the way.
        """
        limit = self._gain_after(job, self.left[job])
        return limit, np.maximum(self.achieved[job], 0.0) / more_ahead + np.maximum(limit, SETTLED)

    def _gain_after(self, job: IntArray, iterations: FloatArray) -> FloatArray:
        # frexp writes a number as m·2^e with m in [½, 1): e is the segment it lies in, HORIZONS being powers of 2.
        segment = np.clip(np.frexp(iterations)[1], 0, len(HORIZONS) - 1)
        gained: FloatArray = self.gain[job, segment] + self.slope[job, segment] * (iterations - HORIZONS[segment])
        return gained


def look_ahead(jobs: Sequence[Job], epoch_s: float, forecast: Forecast = forecast) -> CurveOutlook:
    """The outlook of all jobs for the coming epoch, their loss curves forecast in one batch by `forecast`."""
    histories = [job.history for job in jobs]
    first_loss = np.array([history.first_loss for history in histories])
    spaced = [evenly_spaced(history) for history in histories]
    fitted = forecast([losses for losses, _ in spaced], HORIZONS.tolist())
    scale = _scale(np.array([history.largest_delta for history in histories]), first_loss, fitted[:, 0])
    gain = (fitted[:, :1] - fitted) / scale[:, None]
    achieved = np.nan_to_num((first_loss - fitted[:, 0]) / scale)
    step = np.array([float(step) for _, step in spaced])
    usual = what_is_usual(jobs, step)
    _assume_cold_start(gain, histories, usual)
    _aim_at_targets(gain, achieved, scale, fitted[:, 0], jobs, step)
    ignorant = np.array([job.history.diverged or not job.ml for job in jobs], dtype=bool)
    gain[ignorant] = 0.0
    slope = _diminishing(gain)
    movement = np.where(ignorant, 0.0, np.array([history.movement for history in histories]) / scale)
    tolerance = TOLERANCE * np.abs(np.nan_to_num(fitted[:, 0])) / scale
    falls = (achieved > 0.0) & ~ignorant
    left = _expected_left(slope + OPTIMISM * movement[:, None] * _LASTING_HOPE, tolerance, falls, usual, step)
    gain, slope = _with_optimism(slope, np.array([float(job.ml) for job in jobs]), movement)
    return CurveOutlook(
        _known_runtime(jobs, histories, step, usual, epoch_s),
        epoch_s,
        np.array([job.max_cores for job in jobs]),
        gain,
        slope,
        achieved,
        left,
        usual,
    )


def _scale(largest_delta: FloatArray, first_loss: FloatArray, loss: FloatArray) -> FloatArray:
    """The unit of quality: the largest change so far (SLAQ §4.1), but not one that is mere rounding."""
    size = np.nan_to_num(np.maximum(np.abs(first_loss), np.abs(loss)))
    rounding = np.maximum(ROUNDING * size, np.finfo(np.float64).tiny)
    return np.where(largest_delta > 0.0, np.maximum(largest_delta, rounding), np.maximum(size, 1.0))


def _assume_cold_start(gain: FloatArray, histories: Sequence[History], usual: Usual) -> None:
    """A job with fewer than two losses is expected to improve geometrically, as fast as its algorithm usually does."""
    cold = np.array([len(history) < 2 for history in histories], dtype=bool)
    decay = usual.decay[cold][:, None]
    gain[cold] = (1.0 - decay**HORIZONS) / (1.0 - decay)


def _aim_at_targets(
    gain: FloatArray, achieved: FloatArray, scale: FloatArray, loss: FloatArray, jobs: Sequence[Job], step: FloatArray
) -> None:
    """Bend the gains of jobs with a target loss towards it (SLAQ §7): nothing beyond it is of interest,
    and until it is reached the job is expected to keep at least its average pace, slowing down near it."""
    rows = [i for i, job in enumerate(jobs) if job.target_loss is not None and len(job.history) > 1]
    if not rows:
        return
    target = np.array([jobs[i].target_loss for i in rows])
    with np.errstate(over="ignore"):
        left = np.clip((loss[rows] - target) / scale[rows], 0.0, FARTHEST)[:, None]
    kept = np.array([len(jobs[i].history) - 1 for i in rows])
    made = np.maximum(kept, np.array([jobs[i].history.latest_iteration for i in rows]) / step[rows])
    pace = np.maximum(achieved[rows] / made, 0.0)[:, None]
    hoped = left * -np.expm1(-HORIZONS * pace / np.maximum(left, SETTLED))
    gain[rows] = np.minimum(np.maximum(gain[rows], hoped), left)


def _diminishing(gain: FloatArray) -> FloatArray:
    """The gain per iteration between the horizons, made to fall: more never buys more per iteration."""
    slope = np.maximum(np.diff(gain, axis=1) / np.diff(HORIZONS), 0.0)
    return np.minimum.accumulate(slope, axis=1)


def _expected_left(
    slope: FloatArray, tolerance: FloatArray, falls: BoolArray, usual: Usual, step: FloatArray
) -> FloatArray:
    """Steps until each job is expected to end: where its loss, having fallen, hardly moves, or after the iterations it
    was told. A loss that never fell or is no number has not settled, and such a job is not nearly over."""
    untold = np.maximum(USUAL_LENGTH / step, (1.0 + LASTING) * usual.made)
    most = np.where(np.isinf(usual.length), untold, usual.length) - usual.made
    moving = HORIZONS[np.count_nonzero(slope >= tolerance[:, None], axis=1)]
    expected = np.where(falls, np.minimum(most, np.maximum(moving, LASTING * usual.made)), most)
    return np.clip(expected, 1.0, HORIZONS[-1])


def _with_optimism(slope: FloatArray, ml: FloatArray, movement: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Gain and slope of every job with a little hope added; 0 for jobs that train nothing."""
    hope = np.maximum(OPTIMISM * movement, LEAST_OPTIMISM) * ml
    slope = slope + hope[:, None] * _LASTING_HOPE
    gain = np.zeros((len(slope), len(HORIZONS)))
    np.cumsum(slope * np.diff(HORIZONS), axis=1, out=gain[:, 1:])
    return gain, np.hstack([slope, np.zeros((len(slope), 1))])


def _known_runtime(
    jobs: Sequence[Job], histories: Sequence[History], step: FloatArray, usual: Usual, epoch_s: float
) -> Runtime:
    """The runtime of a forecast step, with no unknown left: a job without a finished iteration is taken for a
    typical one, and an iteration that has already cost more than twice its usual work for a longer one.

    Before its first loss a job gets ready (statistics, bins, first centres), which is done once and says nothing of its
    iterations: what is expected to be left of it is spread over the iterations to 90 %.
    """
    learned = learn_runtime(histories)
    typical = _middle(learned.work_core_s, epoch_s)
    work = np.where(np.isnan(learned.work_core_s), typical, learned.work_core_s) * step
    spent = np.array([job.spent_core_s for job in jobs])
    to_ready = _middle(np.array([job.ready_core_s for job in jobs], dtype=np.float64), epoch_s)
    left = np.maximum(to_ready - spent, MORE_TO_READY * spent)
    young = np.array([not len(history) for history in histories], dtype=bool)
    work = np.where(young, work + left / usual.to_90, np.maximum(work, spent / 2.0))
    return Runtime(work, learned.serial_s * step)


def _middle(values: FloatArray, unknown: float) -> float:
    """The median of those that are known."""
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else unknown

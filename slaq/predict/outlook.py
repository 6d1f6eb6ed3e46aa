"""What cores would buy each job in the coming epoch: the loss curve and the runtime model together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from slaq.model import DEFAULTS, BoolArray, FloatArray, History, IntArray, Job, Tuning
from slaq.model.snapshot import column
from slaq.predict.forecast import forecast_series
from slaq.predict.runtime import Runtime, learn_runtime
from slaq.predict.series import TAIL, Series, aligned
from slaq.predict.spacing import evenly_spaced
from slaq.predict.usual import Usual, what_is_usual

HORIZONS = np.array([0, *(2**i for i in range(13))])
"""Iterations ahead at which curves are forecast (0, 1, 2, 4 … 4096); between them gain is linear."""

_NUMBER = 8  # bytes
_TAIL_BYTES = TAIL * _NUMBER

ROUNDING = 1e-12
"""Changes below this share of the loss are rounding errors."""

FARTHEST = 1e6
"""A target is taken to be at most this many of the job's largest changes away."""

Forecast = Callable[[Series, Sequence[int]], FloatArray]
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
    tuning: Tuning

    def reduction(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """See Outlook.reduction."""
        return self._gain_after(job, self.ahead(job, cores))

    def loss(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """See Outlook.loss."""
        limit, whole = self._limit()[job], self._whole()[job]
        left = np.clip((limit - self.reduction(job, cores)) / whole, 0.0, 1.0)
        return np.where(limit > self.tuning.settled, left, 0.0)

    def ahead(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """See Outlook.ahead."""
        useful = np.minimum(cores, self.max_cores[job])
        ahead: FloatArray = np.minimum(self.runtime.iterations(job, useful, self.epoch_s), HORIZONS[-1])
        return ahead

    def reached(self) -> FloatArray:
        """See Outlook.reached."""
        limit = self._limit()
        settled = np.where(self.achieved > 0.0, 1.0, 0.0)
        return np.where(limit > self.tuning.settled, 1.0 - limit / self._whole(), settled)

    def until(self, share: float) -> FloatArray:
        """See Outlook.until."""
        if share >= 1.0:
            return self.left
        everyone = np.arange(len(self.left))
        limit = self._limit()
        goal = np.where(limit > self.tuning.settled, np.maximum(limit - (1.0 - share) * self._whole(), 0.0), 0.0)
        segment = np.count_nonzero(self.gain[:, 1:-1] < goal[:, None], axis=1)
        slope = np.maximum(self.slope[everyone, segment], self.tuning.least_optimism)
        beyond = (goal - self.gain[everyone, segment]) / slope
        reached: FloatArray = np.minimum(HORIZONS[segment] + np.maximum(beyond, 0.0), self.left)
        return np.minimum(reached, self.usual.left(share))

    def _limit(self) -> FloatArray:
        """The gain until every job's expected end."""
        return self._gain_after(np.arange(len(self.left)), self.left)

    def _whole(self) -> FloatArray:
        """Every job's whole loss reduction: what it has achieved, and what is ahead.

        To have `more_ahead` times more ahead is to have made so much less of the way.
        """
        achieved = np.maximum(self.achieved, 0.0) / self.tuning.more_ahead
        whole: FloatArray = achieved + np.maximum(self._limit(), self.tuning.settled)
        return whole

    def _gain_after(self, job: IntArray, iterations: FloatArray) -> FloatArray:
        # frexp writes a number as m·2^e with m in [½, 1): e is the segment it lies in, HORIZONS being powers of 2.
        segment = np.clip(np.frexp(iterations)[1], 0, len(HORIZONS) - 1)
        gained: FloatArray = self.gain[job, segment] + self.slope[job, segment] * (iterations - HORIZONS[segment])
        return gained


def look_ahead(
    jobs: Sequence[Job], epoch_s: float, tuning: Tuning = DEFAULTS, forecast: Forecast = forecast_series
) -> CurveOutlook:
    """The outlook of all jobs for the coming epoch, their loss curves forecast in one batch by `forecast`."""
    histories = [job.history for job in jobs]
    series, step = _evenly_spaced(histories)
    fitted = forecast(series, HORIZONS.tolist())
    first_loss, largest_delta = column(histories, "first_loss"), column(histories, "largest_delta")
    scale = _scale(largest_delta, first_loss, fitted[:, 0])
    gain = (fitted[:, :1] - fitted) / scale[:, None]
    achieved = np.nan_to_num((first_loss - fitted[:, 0]) / scale)
    usual = what_is_usual(jobs, step, tuning)
    _assume_cold_start(gain, series.points < 2, usual)
    _aim_at_targets(gain, achieved, scale, fitted[:, 0], jobs, step, tuning)
    ml = column(jobs, "ml")
    ignorant = (column(histories, "diverged") > 0.0) | (ml == 0.0)
    gain[ignorant] = 0.0
    slope = _diminishing(gain)
    movement = np.where(ignorant, 0.0, column(histories, "movement") / scale)
    tolerance = tuning.tolerance * np.abs(np.nan_to_num(fitted[:, 0])) / scale
    falls = (achieved > 0.0) & ~ignorant
    hope = tuning.optimism * movement
    lasting = _lasting(tuning.optimism_lasts)
    left = _expected_left(slope + hope[:, None] * lasting, tolerance, falls, usual, step, tuning)
    gain, slope = _with_hope(slope, np.maximum(hope, tuning.least_optimism * ml)[:, None] * lasting)
    runtime = _known_runtime(jobs, histories, step, usual, epoch_s, tuning)
    return CurveOutlook(runtime, epoch_s, column(jobs, "max_cores"), gain, slope, achieved, left, usual, tuning)


def _evenly_spaced(histories: Sequence[History]) -> tuple[Series, FloatArray]:
    """All histories with their losses equally many iterations apart, and how many."""
    spaced = [evenly_spaced(history) for history in histories]
    tails = [losses[-_TAIL_BYTES:] for losses, _ in spaced]
    points = np.fromiter((len(losses) // _NUMBER for losses, _ in spaced), dtype=np.int64, count=len(spaced))
    return aligned(tails, points), np.fromiter((step for _, step in spaced), dtype=np.float64, count=len(spaced))


def _scale(largest_delta: FloatArray, first_loss: FloatArray, loss: FloatArray) -> FloatArray:
    """The unit of quality: the largest change so far (SLAQ §4.1), but not one that is mere rounding."""
    size = np.nan_to_num(np.maximum(np.abs(first_loss), np.abs(loss)))
    rounding = np.maximum(ROUNDING * size, np.finfo(np.float64).tiny)
    return np.where(largest_delta > 0.0, np.maximum(largest_delta, rounding), np.maximum(size, 1.0))


def _assume_cold_start(gain: FloatArray, cold: BoolArray, usual: Usual) -> None:
    """A job with fewer than two losses is expected to improve geometrically, as fast as its algorithm usually does."""
    decay = usual.decay[cold][:, None]
    gain[cold] = (1.0 - decay**HORIZONS) / (1.0 - decay)


def _aim_at_targets(
    gain: FloatArray,
    achieved: FloatArray,
    scale: FloatArray,
    loss: FloatArray,
    jobs: Sequence[Job],
    step: FloatArray,
    tuning: Tuning,
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
    hoped = left * -np.expm1(-HORIZONS * pace / np.maximum(left, tuning.settled))
    gain[rows] = np.minimum(np.maximum(gain[rows], hoped), left)


def _diminishing(gain: FloatArray) -> FloatArray:
    """The gain per iteration between the horizons, made to fall: more never buys more per iteration."""
    slope = np.maximum(np.diff(gain, axis=1) / np.diff(HORIZONS), 0.0)
    return np.minimum.accumulate(slope, axis=1)


def _lasting(halved_after: float) -> FloatArray:
    """What is left, per iteration and between the horizons, of a belief that has halved after so many iterations."""
    lasting: FloatArray = np.diff(HORIZONS / (1.0 + HORIZONS / halved_after)) / np.diff(HORIZONS)
    return lasting


def _expected_left(
    slope: FloatArray, tolerance: FloatArray, falls: BoolArray, usual: Usual, step: FloatArray, tuning: Tuning
) -> FloatArray:
    """Steps until each job is expected to end: where its loss, having fallen, hardly moves, or after its
    `max_iterations`. A loss that never fell or is NaN has not settled, and such a job is not nearly over."""
    untold = np.maximum(tuning.usual_length / step, (1.0 + tuning.lasting) * usual.made)
    most = np.where(np.isinf(usual.length), untold, usual.length) - usual.made
    moving = HORIZONS[np.count_nonzero(slope >= tolerance[:, None], axis=1)]
    expected = np.where(falls, np.minimum(most, np.maximum(moving, tuning.lasting * usual.made)), most)
    return np.clip(expected, 1.0, HORIZONS[-1])


def _with_hope(slope: FloatArray, hope: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Gain and slope of every job with a little hope added."""
    slope = slope + hope
    gain = np.zeros((len(slope), len(HORIZONS)))
    np.cumsum(slope * np.diff(HORIZONS), axis=1, out=gain[:, 1:])
    return gain, np.hstack([slope, np.zeros((len(slope), 1))])


def _known_runtime(
    jobs: Sequence[Job], histories: Sequence[History], step: FloatArray, usual: Usual, epoch_s: float, tuning: Tuning
) -> Runtime:
    """The runtime of a forecast step, with no unknown left: a job without a finished iteration is taken for a
    typical one, and an iteration that is overdue for a longer one.

    Before its first loss a job gets ready (statistics, bins, first centres), which is done once and says nothing of its
    iterations: what is expected to be left of it is spread over the iterations to 90 %.
    """
    learned = learn_runtime(histories)
    typical = _middle(learned.work_core_s, epoch_s)
    work = np.where(np.isnan(learned.work_core_s), typical, learned.work_core_s) * step
    spent = column(jobs, "attained_core_s") - column(jobs, "reported_core_s")
    ready = column(jobs, "ready_core_s")
    to_ready = _middle(ready, epoch_s)
    left = np.maximum(to_ready - spent, tuning.more_to_ready * spent)
    young = np.fromiter((not history.packed_losses for history in histories), dtype=bool, count=len(histories))
    work = np.where(young, work + left / usual.to_90, np.maximum(work, spent / tuning.overdue))
    return Runtime(work, learned.serial_s * step)


def _middle(values: FloatArray, unknown: float) -> float:
    """The median of those that are known."""
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else unknown

"""What cores would buy each job in the coming epoch: the loss curve and the runtime model together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from slaq.model import DEFAULTS, BoolArray, FloatArray, History, IntArray, Job, Tuning
from slaq.model.snapshot import column
from slaq.predict.forecast import forecast_series
from slaq.predict.remaining import MILESTONES, Remaining, remaining
from slaq.predict.runtime import Runtime, learn_runtime
from slaq.predict.series import TAIL, Series, aligned
from slaq.predict.signs import HORIZONS, kinds, prospect, signs
from slaq.predict.spacing import evenly_spaced

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
    """Loss reduction so far, in the same unit; at least 0."""
    preparation_core_s: FloatArray
    """Core-seconds that a job without a loss is expected to need before its first iteration."""
    begun_core_s: FloatArray
    """Core-seconds that the iteration under way has had."""
    remaining: Remaining
    tuning: Tuning

    def reduction(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """See Outlook.reduction."""
        return self._gain_after(job, self.ahead(job, cores))

    def loss(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """See Outlook.loss."""
        limit = self._limit()
        whole = np.maximum(self.achieved + limit, self.tuning.settled)
        left = np.clip((limit[job] - self.reduction(job, cores)) / whole[job], 0.0, 1.0)
        return np.where(limit[job] > self.tuning.settled, left, 0.0)

    def ahead(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """See Outlook.ahead."""
        ahead: FloatArray = np.minimum(
            self.worked(job, cores) / (self._work + self._spread_preparation)[job], HORIZONS[-1]
        )
        return ahead

    def worked(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """See Outlook.worked."""
        useful = np.minimum(cores, self.max_cores[job])
        worked: FloatArray = self.runtime.iterations(job, useful, self.epoch_s) * self._work[job]
        return worked

    def reached(self) -> FloatArray:
        """See Outlook.reached."""
        limit = self._limit()
        whole = self.achieved + limit
        share = np.where(limit > self.tuning.settled, self.achieved / np.where(whole > 0.0, whole, 1.0), 0.0)
        share = np.where((limit <= self.tuning.settled) & (self.achieved > 0.0), 1.0, share)
        return self.remaining.consistent(np.asarray(share))

    def until(self, share: float) -> FloatArray:
        """See Outlook.until."""
        return np.asarray(self.remaining.middle[MILESTONES.index(share)])

    def work_until(self, share: float) -> FloatArray:
        """See Outlook.work_until."""
        return self._work_of(self.until(share))

    def work_between(self, share: float) -> tuple[FloatArray, FloatArray]:
        """The core-seconds of work until then, in a lucky and in an unlucky case: a tenth is below, a tenth above."""
        at = MILESTONES.index(share)
        return self._work_of(self.remaining.low[at]), self._work_of(self.remaining.high[at])

    def _work_of(self, iterations: FloatArray) -> FloatArray:
        begun = np.minimum(self.begun_core_s, self._work * np.minimum(iterations, 1.0))
        return np.where(iterations > 0.0, self.preparation_core_s + iterations * self._work - begun, 0.0)

    @property
    def _work(self) -> FloatArray:
        return self.runtime.work_core_s

    @property
    def _spread_preparation(self) -> FloatArray:
        """What is left to prepare, spread over the iterations to the first milestone."""
        spread: FloatArray = self.preparation_core_s / np.maximum(self.remaining.middle[0], 1.0)
        return spread

    def _limit(self) -> FloatArray:
        """The gain until every job's expected end."""
        return self._gain_after(np.arange(len(self.achieved)), np.maximum(self.until(1.0), 1.0))

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
    achieved = np.maximum(np.nan_to_num((first_loss - fitted[:, 0]) / scale), 0.0)
    ml = column(jobs, "ml")
    ignorant = (column(histories, "diverged") > 0.0) | (ml == 0.0)
    away = _remaining(jobs, series, step, first_loss, fitted, ignorant, tuning)
    _assume_cold_start(gain, series.points < 2, away.middle[0])
    _aim_at_targets(gain, achieved, scale, fitted[:, 0], jobs, step, tuning)
    gain[ignorant] = 0.0
    slope = _diminishing(gain)
    movement = np.where(ignorant, 0.0, column(histories, "movement") / scale)
    hope = np.maximum(tuning.optimism * movement, tuning.least_optimism * ml)
    gain, slope = _with_hope(slope, hope[:, None] * _lasting(tuning.optimism_lasts))
    runtime, preparation, begun = _known_runtime(jobs, histories, step, epoch_s, tuning)
    limits = column(jobs, "max_cores")
    return CurveOutlook(runtime, epoch_s, limits, gain, slope, achieved, preparation, begun, away, tuning)


def _remaining(
    jobs: Sequence[Job],
    series: Series,
    step: FloatArray,
    first_loss: FloatArray,
    fitted: FloatArray,
    ignorant: BoolArray,
    tuning: Tuning,
) -> Remaining:
    """How far every job is from its milestones, in forecast steps; of a job that has diverged all are at its end."""
    made = np.maximum(column([job.history for job in jobs], "latest_iteration"), 0.0) / step
    told = column(jobs, "max_iterations") / step
    untold = np.maximum(tuning.usual_length / step, (1.0 + tuning.lasting) * made)
    left = np.clip(np.where(np.isnan(told), untold, told) - made, 1.0, HORIZONS[-1])
    described = signs(series, first_loss, prospect(first_loss, fitted, left))
    names = [job.estimator for job in jobs]
    found = remaining(np.vstack([*described.values(), kinds(names, series.points)]), left)
    return found.put_off(ignorant, left)


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


def _assume_cold_start(gain: FloatArray, cold: BoolArray, to_90: FloatArray) -> None:
    """A job with fewer than two losses is expected to improve geometrically, up to 90 % at its expected time."""
    decay = 0.1 ** (1.0 / np.maximum(to_90[cold], 1.0))[:, None]
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


def _with_hope(slope: FloatArray, hope: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Gain and slope of every job with a little hope added."""
    slope = slope + hope
    gain = np.zeros((len(slope), len(HORIZONS)))
    np.cumsum(slope * np.diff(HORIZONS), axis=1, out=gain[:, 1:])
    return gain, np.hstack([slope, np.zeros((len(slope), 1))])


def _known_runtime(
    jobs: Sequence[Job], histories: Sequence[History], step: FloatArray, epoch_s: float, tuning: Tuning
) -> tuple[Runtime, FloatArray, FloatArray]:
    """The runtime of a forecast step with no unknown left, the preparation still ahead, and what the step under way
    has cost.

    A job without a finished iteration is taken for a typical one, and an iteration that is overdue for a longer one.
    What a job does before its first loss (statistics, bins, first centres) is done once and says nothing of its
    iterations.
    """
    learned = learn_runtime(histories)
    typical = _middle(learned.work_core_s, epoch_s)
    work = np.where(np.isnan(learned.work_core_s), typical, learned.work_core_s) * step
    spent = column(jobs, "attained_core_s") - column(jobs, "reported_core_s")
    to_ready = _middle(column(jobs, "ready_core_s"), epoch_s)
    young = np.fromiter((not history.packed_losses for history in histories), dtype=bool, count=len(histories))
    preparation = np.where(young, np.maximum(to_ready - spent, tuning.more_to_ready * spent), 0.0)
    work = np.where(young, work, np.maximum(work, spent / tuning.overdue))
    return Runtime(work, learned.serial_s * step), preparation, np.where(young, 0.0, spent)


def _middle(values: FloatArray, unknown: float) -> float:
    """The median of those that are known."""
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else unknown

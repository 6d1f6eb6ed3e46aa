"""What cores would buy each job in the coming epoch: the loss curve and the runtime model together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from slaq.model import DEFAULTS, BoolArray, FloatArray, History, IntArray, Job, Tuning
from slaq.model.snapshot import column
from slaq.predict.expected import Expectations, between, expectations, made
from slaq.predict.forecast import forecast_series
from slaq.predict.remaining import MILESTONES, Remaining, remaining
from slaq.predict.runtime import LEAST_WORK_CORE_S, Runtime, learn_runtime, measured
from slaq.predict.series import TAIL, Series, aligned
from slaq.predict.signs import HORIZONS, Prospect, kinds, prospect, signs
from slaq.predict.spacing import evenly_spaced

_NUMBER = 8  # bytes
_TAIL_BYTES = TAIL * _NUMBER

ROUNDING = 1e-12
"""Changes below this share of the loss are rounding errors."""

FARTHEST = 1e6
"""A target is taken to be at most this many of the job's largest changes away."""

Forecast = Callable[[Series, Sequence[int]], FloatArray]
"""forecast(histories, ahead): the loss of each job after each number of further iterations; jobs × ahead."""

Distances = Callable[[Sequence[Job], Series, FloatArray, Prospect], Remaining]
"""distances(jobs, histories, first losses, forecasts pushed to the end): how far every job is from its milestones, in
steps of its series."""


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
    """Core-seconds that the iteration under way has had, of the usual work of one; less than 0 where what is left of it
    is more than all of that."""
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
        """The core-seconds of work until then, preparation included; 0 if it is more likely there than not."""
        return self._work_of(self.until(share))

    def work_ahead(self, share: float) -> tuple[FloatArray, FloatArray]:
        """See Outlook.work_ahead."""
        at = MILESTONES.index(share)
        return 1.0 - self.remaining.past[at], self._work_of(self.remaining.ahead[at])

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


def learned_distances(jobs: Sequence[Job], series: Series, first_loss: FloatArray, ahead: Prospect) -> Remaining:
    """The learned distributions of `remaining.py`."""
    described = signs(series, first_loss, ahead)
    names = [job.estimator for job in jobs]
    return remaining(np.vstack([*described.values(), kinds(names, series.points)]), ahead.left)


def look_ahead(
    jobs: Sequence[Job],
    epoch_s: float,
    tuning: Tuning = DEFAULTS,
    forecast: Forecast = forecast_series,
    distances: Distances = learned_distances,
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
    past, left = expectations(jobs), _left(jobs, step, tuning)
    away = distances(jobs, series, first_loss, prospect(first_loss, fitted, left))
    # Like the estimator's name, what past fits did counts less the more of its own losses a job has shown.
    away = away.remembered(past.away(made(jobs), step, left), past.length_sure / np.sqrt(series.points + 1.0))
    away = away.put_off(ignorant, left)
    _assume_cold_start(gain, series.points < 2, away.middle[0])
    _aim_at_targets(gain, achieved, scale, fitted[:, 0], jobs, step, tuning)
    gain[ignorant] = 0.0
    slope = _diminishing(gain)
    movement = np.where(ignorant, 0.0, column(histories, "movement") / scale)
    hope = np.maximum(tuning.optimism * movement, tuning.least_optimism * ml)
    gain, slope = _with_hope(slope, hope[:, None] * _lasting(tuning.optimism_lasts))
    runtime, preparation, begun = _known_runtime(jobs, histories, past, step, epoch_s, tuning)
    limits = column(jobs, "max_cores")
    return CurveOutlook(runtime, epoch_s, limits, gain, slope, achieved, preparation, begun, away, tuning)


def _left(jobs: Sequence[Job], step: FloatArray, tuning: Tuning) -> FloatArray:
    """Forecast steps until every job ends at the latest."""
    so_far = made(jobs) / step
    told = column(jobs, "max_iterations") / step
    untold = np.maximum(tuning.usual_length / step, (1.0 + tuning.lasting) * so_far)
    return np.clip(np.where(np.isnan(told), untold, told) - so_far, 1.0, HORIZONS[-1])


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
    jobs: Sequence[Job],
    histories: Sequence[History],
    past: Expectations,
    step: FloatArray,
    epoch_s: float,
    tuning: Tuning,
) -> tuple[Runtime, FloatArray, FloatArray]:
    """The runtime of a forecast step with no unknown left, the preparation still ahead, and what the step under way
    has cost.

    A job without a finished iteration is taken for what past fits like it were, as far as that is sure, and otherwise
    for a typical one of those that run; an iteration that is overdue is taken for a longer one. What a job does before
    its first loss (statistics, bins, first centres) is done once and says nothing of its iterations. The tasks that are
    left in the stages under way are ahead in any case.
    """
    learned = learn_runtime(histories)
    unmeasured = np.isnan(learned.work_core_s)
    work = np.where(unmeasured, _middle(learned.work_core_s, epoch_s), learned.work_core_s)
    trust = past.work_sure * (1.0 - np.minimum(measured(histories) / tuning.own_costs, 1.0))
    work = np.maximum(between(work, past.work_core_s, trust), LEAST_WORK_CORE_S) * step
    serial = (learned.serial_s + trust * (past.serial_s - learned.serial_s)) * step
    spent = column(jobs, "attained_core_s") - column(jobs, "reported_core_s")
    due = column(jobs, "due_core_s")
    whole = np.full(len(jobs), _middle(column(jobs, "ready_core_s"), epoch_s))
    to_ready = between(whole, past.ready_core_s, past.ready_sure)
    longer = tuning.more_to_ready * (1.0 - past.ready_sure) * spent
    young = np.fromiter((not history.packed_losses for history in histories), dtype=bool, count=len(histories))
    preparation = np.where(young, np.maximum(np.maximum(to_ready - spent, longer), due), 0.0)
    work = np.where(young, work, np.maximum(work, spent / tuning.overdue))
    begun = np.where(young, 0.0, work - np.maximum(work - spent, due))
    return Runtime(work, serial), preparation, begun


def _middle(values: FloatArray, unknown: float) -> float:
    """The median of those that are known."""
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else unknown

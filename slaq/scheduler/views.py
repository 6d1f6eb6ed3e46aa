"""Records for people, made from what the scheduler holds of a living job, or of one that has just ended."""

from collections.abc import Iterable

from slaq.model import Job
from slaq.model.life import REASONS
from slaq.protocol import Explanation, JobView, Prediction
from slaq.records import ENDINGS
from slaq.scheduler.live import LiveJob

_DECIDED = ("running", "preempted", *ENDINGS)
"""States in which the latest decision's reason says more than the state."""


def job_view(job: LiveJob, known: Job, ended_at: float | None = None) -> JobView:
    """A job in one line; `known` is what the engine knows of it."""
    history = known.history
    empty = not len(history)
    return JobView(
        id=job.key,
        app=job.app.id,
        app_name=job.app.name,
        user=job.user,
        name=job.declared.name,
        estimator=job.declared.estimator,
        group=job.declared.group,
        state=known.life.state,
        ml=job.declared.ml,
        weight=known.weight,
        cores=(job.granted or 0.0) if ended_at is None else 0.0,
        max_cores=job.declared.max_cores,
        iteration=None if empty else history.latest_iteration,
        first_loss=None if empty else history.first_loss,
        loss=None if empty else history.latest_loss,
        normalised_loss=None if job.standing is None else 1.0 - job.standing.reached,
        diverged=history.diverged,
        target_loss=job.declared.target_loss,
        reports=job.received,
        core_s=known.attained_core_s,
        began_at=job.began_at,
        ended_at=ended_at,
        seen_at=job.seen_at,
        reason=_sentence(job, known),
    )


def explanation(job: LiveJob, known: Job, capacity: int) -> Explanation | None:
    """Why the job has its cores, in numbers; None before its first decision."""
    if job.reason is None:
        return None
    policy, epoch, floor = job.decided
    waits = known.life.waits
    return Explanation(
        sentence=_sentence(job, known),
        rule=waits[0] if waits else job.reason.rule,
        policy=policy,
        epoch=epoch,
        cores=0.0 if waits else job.reason.cores,
        next_gain=job.reason.next_gain,
        cutoff=job.reason.cutoff,
        floor=floor,
        cap=min(known.max_cores, float(capacity)),
        weight=known.weight,
        reserved_cores=known.reserved_cores,
        waited=known.waited,
        ahead=job.foresight.ahead,
        user_cores=job.user_cores,
        wish=job.declared.wish,
        preemptions=known.preemptions,
    )


def prediction(job: LiveJob) -> Prediction | None:
    """What is expected of the job, and how right that was so far."""
    if not job.declared.ml:
        return None
    seen = job.foresight
    return Prediction(
        loss=seen.loss,
        iterations=seen.iterations,
        mean_error=seen.error_sum / seen.judged if seen.judged else None,
        judged=seen.judged,
        last_expected=seen.last_expected,
        last_reported=seen.last_reported,
        standing=job.standing,
    )


def mean_normalised(jobs: Iterable[LiveJob]) -> float | None:
    """The mean normalised loss of the training jobs."""
    known = [1.0 - job.standing.reached for job in jobs if job.standing is not None]
    return sum(known) / len(known) if known else None


def _sentence(job: LiveJob, known: Job) -> str:
    """Why the job has its cores."""
    state = known.life.state
    # A job without cores is still queued after a decision, whose reason then says why.
    decided = job.reason is not None and job.granted is not None
    return str(job.reason) if decided and (state in _DECIDED or state == "queued") else REASONS[state]

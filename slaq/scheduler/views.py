"""Records for people, made from what the scheduler holds."""

from collections.abc import Mapping

from slaq.engine import State
from slaq.model import Job
from slaq.protocol import CoresPoint, Explanation, JobDetail, JobState, JobView, LossPoint, Prediction
from slaq.scheduler.archive import JobRow
from slaq.scheduler.live import LiveJob

_QUOTA = "0 cores: its user's other jobs hold all the cores the user may have"
_HELD = "0 cores: held by its user"
_IDLE = "0 cores: it has no task to run"
_NEW = "not decided yet"


def live_state(job: LiveJob) -> JobState:
    """The state of a job that is alive."""
    return "held" if job.held else "running"


def job_view(job: LiveJob, engine: Job | None, state: JobState, ended_at: float | None = None) -> JobView:
    """A job in one line; `engine` is what the engine knows of it."""
    known = engine or Job(job.key)
    history = known.history
    empty = not len(history)
    return JobView(
        id=job.key,
        app=job.app.id,
        app_name=job.app.name,
        user=job.app.user,
        name=job.declared.name,
        estimator=job.declared.estimator,
        state=state,
        ml=job.declared.ml,
        weight=known.weight,
        cores=(job.granted or 0.0) if ended_at is None else 0.0,
        max_cores=job.declared.max_cores,
        iteration=None if empty else history.latest_iteration,
        first_loss=None if empty else history.first_loss,
        loss=None if empty else history.latest_loss,
        normalised_loss=job.foresight.normalised,
        diverged=history.diverged,
        target_loss=job.declared.target_loss,
        reports=job.received,
        core_s=job.core_s,
        began_at=job.began_at,
        ended_at=ended_at,
        seen_at=job.seen_at,
        reason=sentence(job),
    )


def sentence(job: LiveJob) -> str:
    """Why the job has its cores."""
    if job.held:
        return _HELD
    if job.idle:
        return _IDLE
    if job.over_quota:
        return _QUOTA
    return _NEW if job.reason is None else str(job.reason)


def explanation(job: LiveJob, engine: Job | None, state: State) -> Explanation | None:
    """Why the job has its cores, in numbers; None before its first decision."""
    if job.reason is None or engine is None:
        return None
    policy, epoch, floor = job.decided
    waits = job.aside or job.over_quota
    return Explanation(
        sentence=sentence(job),
        rule="held" if waits else job.reason.rule,
        policy=policy,
        epoch=epoch,
        cores=0.0 if waits else job.reason.cores,
        next_gain=job.reason.next_gain,
        cutoff=job.reason.cutoff,
        floor=floor,
        cap=min(engine.max_cores, float(state.cores)),
        weight=engine.weight,
        reserved_cores=engine.reserved_cores,
        waited=engine.waited,
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
    )


def job_row(job: LiveJob, state: State, job_state: JobState, ended_at: float | None = None) -> JobRow:
    """All that is kept of a job; `state` is one in which the engine still knows it."""
    engine = state.jobs.get(job.key)
    return JobRow(
        view=job_view(job, engine, job_state, ended_at),
        declared=job.declared,
        losses=job.losses.points(),
        cores=job.cores.points(),
        received=job.received,
        weight=job.weight,
        held=job.held,
        cancel=job.cancel,
        explanation=explanation(job, engine, state),
        prediction=prediction(job),
        history=engine.history if engine is not None and job_state in ("running", "held", "lost") else None,
    )


def detail(row: JobRow) -> JobDetail:
    """All there is to know of a job, for people."""
    return JobDetail(
        job=row.view,
        losses=[LossPoint(at, int(iteration), loss) for at, iteration, loss in row.losses],
        cores=[CoresPoint(at, cores) for at, cores in row.cores],
        explanation=row.explanation,
        prediction=row.prediction,
    )


def mean_normalised(jobs: Mapping[str, LiveJob]) -> float | None:
    """The mean normalised loss of the training jobs."""
    known = [job.foresight.normalised for job in jobs.values() if job.foresight.normalised is not None]
    return sum(known) / len(known) if known else None

"""Between what the scheduler holds of a job, the row that the store keeps, and the messages for people."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

import msgspec

from slaq.model import EMPTY_HISTORY, History, Job, PastFit
from slaq.protocol import CoresPoint, DecisionPoint, Explanation, JobDetail, JobView, LossPoint, Prediction
from slaq.records import Param
from slaq.scheduler import views
from slaq.scheduler.live import LiveJob
from slaq.scheduler.store import Body, JobRow, Summary
from slaq.scheduler.store.records import KeptDeclaration, KeptExplanation, KeptFit, KeptHistory, KeptPrediction, is_over

T = TypeVar("T")
_KINDS = (
    Summary, KeptDeclaration, KeptExplanation, KeptPrediction, KeptHistory, KeptFit,
    JobView, Explanation, Prediction, History, PastFit,
)  # fmt: skip
for _kind in _KINDS:
    # Here, not at the first use: two threads that make msgspec know a type at the same time crash the process.
    msgspec.json.Decoder(_kind)
NO_PARAMS: Mapping[str, Param] = MappingProxyType({})


def row_of(job: LiveJob, known: Job, capacity: int, ended_at: float | None = None) -> JobRow:
    """All that is kept of a job; `known` is what the engine knows of it."""
    explanation, prediction = views.explanation(job, known, capacity), views.prediction(job)
    return JobRow(
        _as(Summary, views.job_view(job, known, ended_at)),
        Body(
            declared=_as(KeptDeclaration, job.declared),
            losses=job.losses.points(),
            cores=job.cores.points(),
            received=job.received,
            own_weight=job.weight,
            held="held" in known.life.waits,
            cancel=job.cancel,
            stop=job.stop,
            explanation=None if explanation is None else _as(KeptExplanation, explanation),
            prediction=None if prediction is None else _as(KeptPrediction, prediction),
            history=None if is_over(known.life.state) else _as(KeptHistory, known.history),
            ready_core_s=known.ready_core_s,
            past=None if job.past is None else _as(KeptFit, job.past),
        ),
    )


def view_of(summary: Summary) -> JobView:
    """A kept job in one line."""
    return _as(JobView, summary)


def history_of(row: JobRow) -> History:
    """What the engine knew of a kept job."""
    return EMPTY_HISTORY if row.body.history is None else _as(History, row.body.history)


def past_fit_of(kept: KeptFit) -> PastFit:
    """What a kept job took, for fits like it."""
    return _as(PastFit, kept)


def detail_of(
    row: JobRow, params: Mapping[str, Param] = NO_PARAMS, decisions: Sequence[DecisionPoint] = ()
) -> JobDetail:
    """All there is to know of a job, for people; of a job that is over, its parameters are those of its past fit."""
    body = row.body
    return JobDetail(
        job=view_of(row.summary),
        losses=[LossPoint(at, int(iteration), loss) for at, iteration, loss in body.losses],
        cores=[CoresPoint(at, cores) for at, cores in body.cores],
        explanation=None if body.explanation is None else _as(Explanation, body.explanation),
        prediction=None if body.prediction is None else _as(Prediction, body.prediction),
        params=dict(params) or ({} if body.past is None else dict(body.past.traits.params)),
        decisions=list(decisions),
    )


def _as(kind: type[T], found: object) -> T:
    """The fields of one record in another that has the same ones."""
    return msgspec.convert(found, kind, from_attributes=True)

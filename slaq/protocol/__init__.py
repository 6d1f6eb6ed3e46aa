"""The messages between drivers, scheduler and tools, as JSON over HTTP.

Numbers: JSON has no NaN and no infinity. A number that is not finite is written as `null`, and `null` is
read as "not a finite number": a loss of `null` is a diverged loss, a cost of `null` is unknown, a core
limit of `null` is no limit.

Ids: an application picks a random `app` id, and `job` ids that are unique within it. Everyone else
calls the job `<app>-<job>`; an `app` id has no hyphen, so this is unique and fits into a path.

Times: durations are seconds; instants (`*_at`) are seconds since 1970, for people to read. Nothing is
decided by comparing instants of two machines.

Routes are listed in `slaq.protocol.routes`; what another version of a message may look like, in
`slaq.protocol.version`.
"""

from slaq.protocol.beat import (
    Answer,
    Beat,
    Declaration,
    Ended,
    JobBeat,
    job_key,
)
from slaq.protocol.version import OLDEST, PROTOCOL, understood
from slaq.protocol.views import (
    Ahead,
    Capacity,
    Change,
    CoresPoint,
    DecisionPoint,
    Dump,
    Explanation,
    Failure,
    JobDetail,
    JobList,
    JobView,
    LossPoint,
    Prediction,
    Status,
)
from slaq.records import JobState, Outcome, Report, Standing

__all__ = [
    "OLDEST",
    "PROTOCOL",
    "Ahead",
    "Answer",
    "Beat",
    "Capacity",
    "Change",
    "CoresPoint",
    "DecisionPoint",
    "Declaration",
    "Dump",
    "Ended",
    "Explanation",
    "Failure",
    "JobBeat",
    "JobDetail",
    "JobList",
    "JobState",
    "JobView",
    "LossPoint",
    "Outcome",
    "Prediction",
    "Report",
    "Standing",
    "Status",
    "job_key",
    "understood",
]

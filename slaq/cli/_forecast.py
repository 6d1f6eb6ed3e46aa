"""The curve that a job is expected to follow, from what the scheduler says of it."""

from slaq.cli._plot import Point
from slaq.protocol import JobDetail


def forecast(detail: JobDetail) -> list[Point]:
    """From the latest loss over the end of this epoch and the milestones at 90 % and 95 % to the expected end.

    Empty for a job that is over, that has diverged, or of which too little is known.
    """
    job, prediction = detail.job, detail.prediction
    if prediction is None or job.ended_at is not None or job.diverged or job.iteration is None:
        return []
    if job.loss is None or job.first_loss is None:
        return []
    now = float(job.iteration)
    points = {now: job.loss}
    if prediction.loss is not None and prediction.iterations:
        points[now + prediction.iterations] = prediction.loss
    standing = prediction.standing
    if standing is not None and 0.0 < standing.reached <= 1.0 and job.first_loss > job.loss:
        whole = (job.first_loss - job.loss) / standing.reached
        for share, ahead in ((0.9, standing.to_90), (0.95, standing.to_95), (1.0, standing.to_end)):
            if ahead > 0.0:
                points[now + ahead] = job.first_loss - share * whole
    falling: list[Point] = []
    for at, loss in sorted(points.items()):
        # The two sources may disagree by a little; a curve that rises would say something else.
        falling.append((at, min(loss, falling[-1][1]) if falling else loss))
    return falling if len(falling) > 1 else []

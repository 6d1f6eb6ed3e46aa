"""`slaq job ID`."""

import click

from slaq.cli._client import Client
from slaq.cli._forecast import forecast
from slaq.cli._options import client_options, format_option
from slaq.cli._output import columns, echo_json, facts_text
from slaq.cli._plot import LABEL, plot
from slaq.cli._states import COLOURS
from slaq.cli._text import cores, duration, instant, number, plain
from slaq.cli._watch import interval_option, refuse_for_programs, show, watch_option
from slaq.cli._wishes import wish_facts
from slaq.protocol import JobDetail, JobView, Prediction, Standing

WIDEST = 120
"""Columns of a curve; wider ones are hard to read."""

ELSEWHERE = 80
"""Columns of a curve that does not go to a terminal."""


@click.command()
@click.argument("job_id", metavar="ID")
@watch_option
@interval_option
@format_option("table", "json")
@client_options
def command(client: Client, job_id: str, watch: bool, interval: float | None, output_format: str) -> None:
    """Show one job: its progress, its loss curve, its cores over time.

    ID is the job's id, a short id as in `slaq jobs`, the beginning of an id, or the job's name. The forecast is drawn
    beside the curve, in dots.
    """
    refuse_for_programs(watch, output_format)
    if output_format == "json":
        echo_json(client.job(job_id))
    else:
        show(lambda: _text(client.job(job_id)), client, watch, interval)


def _text(detail: JobDetail) -> str:
    facts = _facts(detail.job) | _predicted(detail.prediction)
    if (why := detail.explanation) is not None:
        facts |= wish_facts(why.wish, why.policy)
    head = facts_text(facts, plain(detail.job.id), COLOURS[detail.job.state])
    return "\n".join([head, *_curves(detail, min(columns() or ELSEWHERE, WIDEST) - LABEL - 2)])


def _facts(job: JobView) -> dict[str, str]:
    loss = "diverged" if job.diverged else number(job.loss, 6)
    facts = {
        "job": plain(f"{job.name} ({job.estimator})"),
        "application": plain(f"{job.app_name} of {job.user}"),
        "state": f"{job.state}, began {instant(job.began_at)}"
        + (f", ended after {duration(job.ended_at - job.began_at)}" if job.ended_at else ""),
        "cores": f"{cores(job.cores)}, can use {cores(job.max_cores)}, {number(job.core_s)} core-seconds so far",
        "weight": f"{job.weight:g}",
        "loss": f"{loss} after iteration {job.iteration if job.iteration is not None else '-'}, "
        f"{number(job.first_loss, 6)} at first",
    }
    if job.group:
        facts["group"] = plain(job.group)
    if job.normalised_loss is not None:
        facts["progress"] = _reached(1.0 - job.normalised_loss)
    if job.target_loss is not None:
        facts["target loss"] = number(job.target_loss, 6)
    if job.reason:
        facts["why"] = plain(job.reason)
    return facts


def _predicted(prediction: Prediction | None) -> dict[str, str]:
    if prediction is None:
        return {}
    facts = {
        "prediction": f"{number(prediction.loss, 6)} at the end of this epoch, after "
        f"{number(prediction.iterations)} more iterations"
    }
    if prediction.standing is not None:
        facts["progress"] = progress(prediction.standing)
    if prediction.judged:
        facts["its error"] = (
            f"{number(100 * (prediction.mean_error or 0.0), 3)} % of the reduction so far, on average over "
            f"{prediction.judged} epochs; latest: {number(prediction.last_expected, 6)} expected, "
            f"{number(prediction.last_reported, 6)} reported"
        )
    return facts


def progress(standing: Standing) -> str:
    """How far a job has come, and how far it has to go, in words."""
    milestones = (("90 %", standing.to_90), ("95 %", standing.to_95), ("its end", standing.to_end))
    ahead = [f"{name} in about {_iterations(left)}" for name, left in milestones if left > 0.0]
    return ", ".join([_reached(standing.reached), *ahead])


def _iterations(left: float) -> str:
    whole = max(round(left), 1)
    return f"{whole} iteration{'s' * (whole > 1)}"


def _reached(share: float) -> str:
    # Rounded down: 89.9 % must not read as 90 % while that is still to come.
    return f"reached {int(100 * max(share, 0.0))} % of its expected loss reduction"


def _curves(detail: JobDetail, width: int) -> list[str]:
    lines: list[str] = []
    losses = [(float(point.iteration), point.loss) for point in detail.losses if point.loss is not None]
    if losses:
        ahead = forecast(detail)
        drawn = plot(losses, width, ahead=ahead)
        lines += ["", f"loss by iteration{', and as it is expected to go on (dots)' * bool(ahead)}", *drawn]
    if detail.cores:
        begin = detail.job.began_at
        until = max(detail.job.ended_at or detail.job.seen_at, detail.cores[-1].at)
        held = [(point.at - begin, point.cores) for point in detail.cores]
        drawn = plot([*held, (until - begin, held[-1][1])], width, height=5, steps=True)
        lines += ["", "cores by second since it began", *drawn]
    return lines

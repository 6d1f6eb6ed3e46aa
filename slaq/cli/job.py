"""`slaq job ID`: one job: its loss curve, its cores over time, how well it was foreseen."""

import click

from slaq.cli._client import Client
from slaq.cli._options import client_options, format_option
from slaq.cli._output import Cell, echo_facts, echo_json
from slaq.cli._plot import plot
from slaq.cli._text import cores, duration, instant, number, plain, shown
from slaq.protocol import JobDetail, JobView, Prediction


@click.command(help=__doc__)
@click.argument("job_id", metavar="ID")
@format_option("table", "json")
@client_options
def command(client: Client, job_id: str, output_format: str) -> None:
    detail = client.job(job_id)
    if output_format == "json":
        echo_json(detail)
        return
    echo_facts(_facts(detail.job) | _foreseen(detail.prediction), plain(detail.job.id))
    _curves(detail)


def _facts(job: JobView) -> dict[str, Cell]:
    loss = "diverged" if job.diverged else number(job.loss, 6)
    facts: dict[str, Cell] = {
        "job": shown(f"{job.name} ({job.estimator})"),
        "application": shown(f"{job.app_name} of {job.user}"),
        "state": f"{job.state}, began {instant(job.began_at)}"
        + (f", ended after {duration(job.ended_at - job.began_at)}" if job.ended_at else ""),
        "cores": f"{cores(job.cores)}, can use {cores(job.max_cores)}, {number(job.core_s)} core-seconds so far",
        "weight": f"{job.weight:g}",
        "loss": f"{loss} after iteration {job.iteration if job.iteration is not None else '-'}, "
        f"{number(job.first_loss, 6)} at first",
        "loss left": f"{number(job.normalised_loss)} (1 at the first report, 0 at the predicted limit)",
    }
    if job.target_loss is not None:
        facts["target loss"] = number(job.target_loss, 6)
    if job.reason:
        facts["why"] = shown(job.reason)
    return facts


def _foreseen(prediction: Prediction | None) -> dict[str, Cell]:
    if prediction is None:
        return {}
    facts: dict[str, Cell] = {
        "prediction": f"{number(prediction.loss, 6)} at the end of this epoch, after "
        f"{number(prediction.iterations)} more iterations"
    }
    if prediction.judged:
        facts["its error"] = (
            f"{number(100 * (prediction.mean_error or 0.0), 3)} % of the reduction so far, on average over "
            f"{prediction.judged} epochs; latest: {number(prediction.last_expected, 6)} expected, "
            f"{number(prediction.last_reported, 6)} reported"
        )
    return facts


def _curves(detail: JobDetail) -> None:
    losses = [(float(point.iteration), point.loss) for point in detail.losses if point.loss is not None]
    if losses:
        click.echo("\nloss by iteration")
        click.echo("\n".join(plot(losses)))
    if detail.cores:
        begin = detail.job.began_at
        until = max(detail.job.ended_at or detail.job.seen_at, detail.cores[-1].at)
        held = [(point.at - begin, point.cores) for point in detail.cores]
        click.echo("\ncores by second since it began")
        click.echo("\n".join(plot([*held, (until - begin, held[-1][1])], height=5, steps=True)))

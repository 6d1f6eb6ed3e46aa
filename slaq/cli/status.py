"""`slaq status`."""

import click

from slaq.cli._client import Client
from slaq.cli._options import client_options, format_option
from slaq.cli._output import echo_facts, echo_json
from slaq.cli._text import cores, counts, duration, instant, number, plain
from slaq.protocol import Status


@click.command()
@format_option("table", "json")
@client_options
def command(client: Client, output_format: str) -> None:
    """Show the scheduler at a glance.

    Problems that need an administrator go to stderr.
    """
    status = client.status()
    if output_format == "json":
        echo_json(status)
        return
    echo_facts(_facts(status), f"SLAQ {plain(status.version)} at {client.address}")
    for problem in filter(None, (*status.problems, status.capacity.problem)):
        click.secho(f"problem: {plain(problem)}", err=True, fg="red")


def _facts(status: Status) -> dict[str, str]:
    capacity = status.capacity
    return {
        "up": f"{duration(status.now_at - status.started_at)}, since {instant(status.started_at)}",
        "cores": f"{cores(status.granted_cores)} of {capacity.cores} granted ({plain(capacity.source)})",
        "jobs": counts(status.jobs),
        "applications": str(status.applications),
        "policy": plain(status.policy),
        "epoch": f"{status.epoch}, every {status.epoch_s:g} s, {status.epochs_late} late; "
        f"the latest decision took {status.decide_s * 1000:.1f} ms",
        "lease": f"{status.lease_s:g} s",
        "mean loss left": number(status.mean_loss),
        "reports": f"{status.reports} received, {status.dropped_reports} dropped; {status.beats} beats",
    }

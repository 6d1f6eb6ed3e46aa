"""`slaq status`: the scheduler in one look."""

import click
from rich.text import Text

from slaq.cli._client import Client
from slaq.cli._options import client_options, format_option
from slaq.cli._output import Cell, echo_facts, echo_json
from slaq.cli._text import cores, duration, instant, number, plain
from slaq.protocol import Status


@click.command(help=__doc__)
@format_option("table", "json")
@client_options
def command(client: Client, output_format: str) -> None:
    status = client.status()
    if output_format == "json":
        echo_json(status)
        return
    echo_facts(_facts(status), f"SLAQ {plain(status.version)} at {client.address}")
    for problem in status.problems:
        click.echo(f"problem: {plain(problem)}", err=True)


def _facts(status: Status) -> dict[str, Cell]:
    capacity = status.capacity
    states = ", ".join(f"{count} {plain(state)}" for state, count in status.jobs.items() if count)
    facts: dict[str, Cell] = {
        "up": f"{duration(status.now_at - status.started_at)}, since {instant(status.started_at)}",
        "cores": f"{cores(status.granted_cores)} of {capacity.cores} granted ({plain(capacity.source)})",
        "jobs": states or "none",
        "applications": str(status.applications),
        "policy": plain(status.policy),
        "epoch": f"{status.epoch}, every {status.epoch_s:g} s, {status.epochs_late} late; "
        f"the latest decision took {status.decide_s * 1000:.1f} ms",
        "lease": f"{status.lease_s:g} s",
        "mean loss left": number(status.mean_loss),
        "reports": f"{status.reports} in {status.beats} beats, {status.dropped_reports} dropped",
    }
    if capacity.problem:
        facts["capacity"] = Text(plain(capacity.problem), style="red")
    return facts

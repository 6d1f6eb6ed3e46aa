"""`slaq set ID weight=…`."""

import click

from slaq.cli._client import Client
from slaq.cli._options import client_options
from slaq.cli._text import plain
from slaq.errors import SlaqError
from slaq.protocol import Change
from slaq.records import WEIGHTS


@click.command()
@click.argument("job_id", metavar="ID")
@click.argument("assignments", metavar="KEY=VALUE", nargs=-1, required=True)
@client_options
def command(client: Client, job_id: str, assignments: tuple[str, ...]) -> None:
    """Change the weight of a job.

    `slaq set ID weight=2` doubles what a gain of the job counts for, from the next decision on.
    """
    weight = [_weight(assignment) for assignment in assignments][-1]
    job = client.change(job_id, Change(weight=weight))
    click.echo(f"{plain(job.id)}: weight {weight:g} from the next epoch on")


def _weight(assignment: str) -> float:
    key, equals, text = assignment.partition("=")
    if key != "weight" or not equals:
        raise SlaqError(f"cannot set {assignment!r}; only weight=NUMBER can be set")
    try:
        weight = float(text)
    except ValueError:
        weight = 0.0
    if not WEIGHTS[0] <= weight <= WEIGHTS[1]:
        raise SlaqError(f"weight is {text!r}; give a number from {WEIGHTS[0]:g} to {WEIGHTS[1]:g}, usually 1")
    return weight

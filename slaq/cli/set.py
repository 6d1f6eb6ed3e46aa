"""`slaq set ID weight=…`: change a running job."""

import click

from slaq.cli._client import Client
from slaq.cli._options import client_options
from slaq.cli._text import plain
from slaq.errors import SlaqError
from slaq.model.job import WEIGHTS
from slaq.protocol import Change


@click.command(help=__doc__)
@click.argument("job_id", metavar="ID")
@click.argument("assignments", metavar="KEY=VALUE", nargs=-1, required=True)
@client_options
def command(client: Client, job_id: str, assignments: tuple[str, ...]) -> None:
    weight = [_weight(assignment) for assignment in assignments][-1]
    job = client.change(job_id, Change(weight=weight))
    click.echo(f"{plain(job.id)}: weight {weight:g} from the next epoch on")


def _weight(assignment: str) -> float:
    key, equals, text = assignment.partition("=")
    if key != "weight" or not equals:
        raise SlaqError(f"cannot set {assignment!r}; what can be set is weight=NUMBER")
    try:
        weight = float(text)
    except ValueError:
        weight = 0.0
    if not WEIGHTS[0] <= weight <= WEIGHTS[1]:
        raise SlaqError(f"weight is {text!r}; give a number from {WEIGHTS[0]:g} to {WEIGHTS[1]:g}, usually 1")
    return weight

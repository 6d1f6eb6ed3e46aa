"""`slaq dump`."""

import click

from slaq.cli._client import Client
from slaq.cli._options import client_options
from slaq.cli._output import echo_json


@click.command()
@client_options
def command(client: Client) -> None:
    """Print everything the scheduler holds in memory, as JSON.

    Status, settings, applications and living jobs with their curves, for a report of a defect. Needs an
    administrator's token; holds names and losses, no tokens.
    """
    echo_json(client.dump())

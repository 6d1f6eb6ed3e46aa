"""Commands that make the same change to every job they are given."""

import click

from slaq.cli._client import Client
from slaq.cli._options import client_options
from slaq.cli._summaries import summary
from slaq.cli._text import plain
from slaq.errors import SlaqError
from slaq.protocol import Change


def change_command(name: str, change: Change, done: str, more: str) -> click.Command:
    """A command that applies `change` to each ID; `more` is what its help says besides."""

    @click.command(
        name=name, help=f"{summary(name)}.\n\n{more} If one job cannot be changed the others are all the same."
    )
    @click.argument("job_ids", metavar="ID...", nargs=-1, required=True)
    @client_options
    def command(client: Client, job_ids: tuple[str, ...]) -> None:
        failures = []
        for job_id in job_ids:
            try:
                click.echo(f"{plain(client.change(job_id, change).id)}: {done}")
            except SlaqError as error:
                failures.append(str(error))
        if failures:
            raise SlaqError("\nslaq: ".join(failures))

    return command

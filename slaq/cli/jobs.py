"""`slaq jobs`."""

import click

from slaq.cli._client import EVERY_STATE, Client
from slaq.cli._options import client_options, format_option
from slaq.cli._output import console, echo_csv, echo_json
from slaq.protocol import JobView


@click.command()
@click.option("--user", help="Only this user's.")
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice(["active", *EVERY_STATE, "all"]),
    default=["active"],
    show_default=True,
    help="Only jobs in this state; may be given several times. Active jobs are those that have not ended.",
)
@click.option(
    "--sort",
    metavar="FIELD",
    default="-began_at",
    show_default=True,
    help=f"A field, with - in front for the largest first: {', '.join(JobView.__struct_fields__)}.",
)
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True, help="At most this many.")
@format_option("table", "json", "csv")
@client_options
def command(
    client: Client, user: str | None, states: tuple[str, ...], sort: str, limit: int, output_format: str
) -> None:
    """List jobs."""
    asked = EVERY_STATE if "all" in states else states
    found = client.jobs(state=asked, sort=sort, limit=limit, **({"user": user} if user else {}))
    if output_format == "json":
        echo_json(found)
    elif output_format == "csv":
        echo_csv(found.jobs)
    else:
        from slaq.cli._tables import jobs_table

        status = client.status()
        console().print(jobs_table(found.jobs, status.now_at, status.capacity.cores))
        if found.total > len(found.jobs):
            # Of the jobs that ended a scheduler lists only the newest.
            remedy = f"--limit {found.total} shows" if len(found.jobs) == limit else "a --user or --state shows"
            click.echo(f"{len(found.jobs)} of {found.total}; {remedy} more")

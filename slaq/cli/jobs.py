"""`slaq jobs`: the jobs, active ones unless others are asked for."""

import click

from slaq.cli._client import EVERY_STATE, Client
from slaq.cli._options import client_options, format_option
from slaq.cli._output import console, echo_csv, echo_json, jobs_table
from slaq.protocol import JobView


@click.command(help=__doc__)
@click.option("--user", help="Only this user's.")
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice(["active", *EVERY_STATE, "all"]),
    default=["active"],
    show_default=True,
    help="May be given several times.",
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
    asked = EVERY_STATE if "all" in states else states
    found = client.jobs(state=asked, sort=sort, limit=limit, **({"user": user} if user else {}))
    if output_format == "json":
        echo_json(found)
    elif output_format == "csv":
        echo_csv(found.jobs)
    else:
        status = client.status()
        console().print(jobs_table(found.jobs, status.now_at, status.capacity.cores))
        if found.total > len(found.jobs):
            # Of the jobs that ended a scheduler looks at the newest only.
            remedy = f"--limit {found.total} shows" if len(found.jobs) == limit else "a --user or --state shows"
            click.echo(f"{len(found.jobs)} of {found.total}; {remedy} more")

"""`slaq jobs`."""

import click

from slaq.cli._client import EVERY_STATE, Client
from slaq.cli._options import client_options, format_option
from slaq.cli._output import console, drawn, echo_csv, echo_json
from slaq.cli._watch import interval_option, refuse_for_programs, show, watch_option
from slaq.protocol import JobList, JobView


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
@watch_option
@interval_option
@format_option("table", "json", "csv")
@client_options
def command(
    client: Client,
    user: str | None,
    states: tuple[str, ...],
    sort: str,
    limit: int,
    watch: bool,
    interval: float | None,
    output_format: str,
) -> None:
    """List jobs.

    Jobs of one group stand together under the group's line, told apart by the parameters in which they differ. The
    table is as wide as the terminal; its short ids can be given to every command.
    """
    refuse_for_programs(watch, output_format)

    def ask() -> JobList:
        asked = EVERY_STATE if "all" in states else states
        return client.jobs(state=asked, sort=sort, limit=limit, **({"user": user} if user else {}))

    def draw() -> str:
        from slaq.cli._tables import jobs_table

        found, status, out = ask(), client.status(), console()
        whole_ids = not out.is_terminal
        text = drawn(out, jobs_table(found.jobs, status.now_at, status.capacity.cores, out.width, whole_ids))
        if found.total <= len(found.jobs):
            return text
        # Of the jobs that ended a scheduler lists only the newest.
        remedy = f"--limit {found.total} shows" if len(found.jobs) == limit else "a --user or --state shows"
        return f"{text}\n{len(found.jobs)} of {found.total}; {remedy} more"

    if output_format == "json":
        echo_json(ask())
    elif output_format == "csv":
        echo_csv(ask().jobs)
    else:
        show(draw, client, watch, interval)

"""`slaq top`."""

import click
from rich.text import Text

from slaq.cli._client import Client
from slaq.cli._options import client_options
from slaq.cli._output import console, drawn
from slaq.cli._tables import jobs_table
from slaq.cli._text import bar, cores, counts, duration, number, plain
from slaq.cli._watch import interval_option, show
from slaq.protocol import JobView, Status
from slaq.records import LIVING

FRAME = 6
"""Lines around the rows of the table."""

MOST = 1000
"""Jobs in a table that does not go to a terminal."""


@click.command()
@click.option("--once", is_flag=True, help="Print the jobs once and end.")
@interval_option
@click.option("--user", help="Only this user's jobs.")
@click.option(
    "--sort",
    metavar="FIELD",
    default="-cores",
    show_default=True,
    help=f"A field, with - in front for the largest first: {', '.join(JobView.__struct_fields__)}.",
)
@client_options
def command(client: Client, once: bool, interval: float | None, user: str | None, sort: str) -> None:
    """Show the active jobs live, those with the most cores first.

    Jobs of one group stand together under the group's line, where the first of them would be. Ctrl-C ends it.
    """
    show(lambda: _look(client, user, sort, once), client, not once, interval)


def _look(client: Client, user: str | None, sort: str, once: bool) -> str:
    out = console()
    status = client.status()
    mine = {"user": user} if user else {}
    rows = max(out.height - FRAME, 1) if out.is_terminal and not once else MOST
    found = client.jobs(state="active", sort=sort, limit=rows, **mine)
    table = jobs_table(found.jobs, status.now_at, status.capacity.cores, out.width, whole_ids=not out.is_terminal)
    more = found.total - len(found.jobs)
    return drawn(out, _head(status), table, *([Text(f"and {more} more")] if more > 0 else []))


def _head(status: Status) -> Text:
    capacity = status.capacity.cores
    share = status.granted_cores / capacity if capacity else 0.0
    lines = [
        f"SLAQ {plain(status.version)}  up {duration(status.now_at - status.started_at)}  {plain(status.policy)}  "
        f"epoch {status.epoch} every {status.epoch_s:g} s",
        f"cores {cores(status.granted_cores):>6} of {capacity:<6} {bar(share, 20)}  "
        f"mean loss left {number(status.mean_loss, 3)}",
        f"{counts(status.jobs, LIVING)}; {status.applications} application{'' if status.applications == 1 else 's'}",
    ]
    text = Text("\n".join(lines))
    for problem in (*status.problems, status.capacity.problem):
        if problem:
            text.append(f"\n{plain(problem)}", style="red")
    return text

"""`slaq top`."""

import time

import click
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from slaq.cli._client import Client, UnreachableError
from slaq.cli._options import client_options
from slaq.cli._output import console
from slaq.cli._tables import jobs_table
from slaq.cli._text import bar, cores, counts, duration, number, plain
from slaq.protocol import Status
from slaq.records import LIVING

FRAME = 7
"""Lines around the rows of the table."""


@click.command()
@click.option("--once", is_flag=True, help="Print the jobs once and end.")
@click.option("--interval", type=click.FloatRange(0.1, 3600.0), help="Seconds between updates.  [default: an epoch]")
@click.option("--user", help="Only this user's jobs.")
@client_options
def command(client: Client, once: bool, interval: float | None, user: str | None) -> None:
    """Show the active jobs live, those with the most cores first.

    Ctrl-C ends it.
    """
    out = console()
    if once:
        out.print(_look(client, user, rows=1000))
        return
    pause_s = interval or client.status().epoch_s
    try:
        if out.is_terminal:
            _live(client, user, out, pause_s)
        while True:
            # Not a terminal: nothing can be drawn over, so one table follows another.
            out.print(_look(client, user, rows=1000))
            time.sleep(pause_s)
    except KeyboardInterrupt:
        return


def _live(client: Client, user: str | None, out: Console, pause_s: float) -> None:
    with Live(console=out, screen=True, auto_refresh=False) as live:
        while True:
            try:
                live.update(_look(client, user, max(out.height - FRAME, 1)), refresh=True)
            except UnreachableError as error:
                # The scheduler may only be restarting.
                live.update(Text(f"{error}\n\nTrying again …"), refresh=True)
            time.sleep(pause_s)


def _look(client: Client, user: str | None, rows: int) -> RenderableType:
    status = client.status()
    mine = {"user": user} if user else {}
    found = client.jobs(state="active", sort="-cores", limit=rows, **mine)
    table = jobs_table(found.jobs, status.now_at, status.capacity.cores)
    more = found.total - len(found.jobs)
    return Group(_head(status), table, *([Text(f"and {more} more")] if more > 0 else []))


def _head(status: Status) -> Text:
    capacity = status.capacity.cores
    share = status.granted_cores / capacity if capacity else 0.0
    lines = [
        f"SLAQ {plain(status.version)}  up {duration(status.now_at - status.started_at)}  {plain(status.policy)}  "
        f"epoch {status.epoch} every {status.epoch_s:g} s",
        f"cores {cores(status.granted_cores):>6} of {capacity:<6} {bar(share, 20)}  "
        f"{counts(status.jobs, LIVING)}; {status.applications} applications; "
        f"mean loss left {number(status.mean_loss, 3)}",
    ]
    text = Text("\n".join(lines))
    for problem in (*status.problems, status.capacity.problem):
        if problem:
            text.append(f"\n{plain(problem)}", style="red")
    return text

"""What commands print: JSON for programs, tables of jobs and of facts for people."""

import csv
import io
from collections.abc import Mapping, Sequence

import click
import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from slaq.cli._text import bar, cores, duration, number, plain, shown
from slaq.protocol import JobView

Cell = str | Text


def echo_json(value: object) -> None:
    """Any record or plain data, indented."""
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def console() -> Console:
    """Where tables go; wide where there is no terminal to fit into."""
    found = Console()
    return found if found.is_terminal else Console(width=160)


def echo_facts(facts: Mapping[str, Cell], title: str = "") -> None:
    """Two columns: what, and how much."""
    grid = Table.grid(padding=(0, 2))
    for name, value in facts.items():
        grid.add_row(name, value if isinstance(value, Text) else Text(value))
    out = console()
    if title:
        out.print(Text(title, style="bold"))
    out.print(grid)


def echo_csv(jobs: Sequence[JobView]) -> None:
    """Every field of every job, a header first."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    fields = JobView.__struct_fields__
    writer.writerow(fields)
    writer.writerows([_csv_cell(getattr(job, field)) for field in fields] for job in jobs)
    click.echo(output.getvalue(), nl=False)


def _csv_cell(value: object) -> object:
    """A text that begins like a formula gets a quote in front, or spreadsheets would run it."""
    if not isinstance(value, str):
        return value
    text = plain(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def jobs_table(jobs: Sequence[JobView], now_at: float, capacity: float, title: str = "") -> Table:
    """One line a job."""
    table = Table(title=title or None, title_justify="left", expand=False)
    # Commands take the id, so it is never cut off.
    table.add_column("id", no_wrap=True, min_width=max((len(plain(job.id)) for job in jobs), default=0))
    for column in ("user", "job", "estimator", "state", "age"):
        table.add_column(column, overflow="ellipsis", no_wrap=True)
    for column in ("iteration", "loss"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("loss left", no_wrap=True)
    table.add_column("cores", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for job in jobs:
        table.add_row(*_row(job, now_at, capacity))
    return table


def _row(job: JobView, now_at: float, capacity: float) -> tuple[Cell, ...]:
    return (
        shown(job.id),
        shown(job.user),
        shown(job.name),
        shown(job.estimator),
        Text(job.state),
        duration((job.ended_at or now_at) - job.began_at),
        str(job.iteration) if job.iteration is not None else "-",
        "diverged" if job.diverged else number(job.loss),
        bar(job.normalised_loss),
        cores(job.cores),
        Text(bar(job.cores / capacity if capacity else None), style="green"),
    )

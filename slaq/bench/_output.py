"""What every benchmark prints: one table for people, or the same facts as JSON."""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import click
from rich.console import Console
from rich.table import Table

format_option = click.option(
    "--format",
    "output_format",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="A table for people, or JSON for programs.",
)


cores_option = click.option(
    "--cores",
    default=os.cpu_count() or 2,
    show_default="all",
    type=click.IntRange(min=1),
    help="Cores that Spark gets.",
)


def emit(output_format: str, facts: Mapping[str, Any], title: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Print `facts` as JSON, or `rows` (one mapping per line, same keys) as a table with a title."""
    if output_format == "json":
        click.echo(json.dumps(facts, indent=2, allow_nan=False))
        return
    table = Table(title=title, title_justify="left")
    for column in rows[0] if rows else ():
        table.add_column(str(column), justify="left" if column == next(iter(rows[0])) else "right")
    for row in rows:
        table.add_row(*(cell(value) for value in row.values()))
    Console().print(table)


def cell(value: object) -> str:
    """A number with four significant digits, anything else as it is."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)

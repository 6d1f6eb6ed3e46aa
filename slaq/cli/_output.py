"""What commands print: JSON and CSV for programs, facts and tables for people."""

import csv
import io
import json
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click
import msgspec

from slaq.cli._text import plain
from slaq.protocol import JobView

if TYPE_CHECKING:
    from rich.console import Console

NARROWEST = 20
"""Columns that a value gets in the narrowest terminal."""

WIDE = 160
"""Columns of a table that does not go to a terminal."""


def console() -> "Console":
    """Where tables go. Only commands that draw one load rich, which takes a tenth of a second."""
    from rich.console import Console

    found = Console()
    return found if found.is_terminal else Console(width=WIDE)


def drawn(out: "Console", *parts: object) -> str:
    """What the console would print, as text."""
    with out.capture() as capture:
        for part in parts:
            out.print(part)
    return capture.get().rstrip("\n")


def echo_json(value: object) -> None:
    """Print any record or plain data, indented; what could move a cursor is escaped, as any character may be."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    if not text.isascii():
        text = "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
    click.echo(text)


def columns() -> int | None:
    """The width of the terminal; None: the output goes elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def echo_facts(facts: Mapping[str, str], title: str = "") -> None:
    """Print two columns, names and values."""
    click.echo(facts_text(facts, title))


def facts_text(facts: Mapping[str, str], title: str = "", colour: str | None = None) -> str:
    """Two columns, names and values; in a terminal long values wrap inside their column."""
    indent = max(map(len, facts)) + 2
    width = max((columns() or sys.maxsize) - indent, NARROWEST)
    wrapped = {name: textwrap.wrap(value, width) or [""] for name, value in facts.items()}
    rows = [name.ljust(indent) + ("\n" + " " * indent).join(lines) for name, lines in wrapped.items()]
    return "\n".join([click.style(title, bold=True, fg=colour), *rows] if title else rows)


def echo_csv(jobs: Sequence[JobView]) -> None:
    """Print every field of every job, with a header."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    fields = JobView.__struct_fields__
    writer.writerow(fields)
    writer.writerows([_csv_cell(getattr(job, field)) for field in fields] for job in jobs)
    click.echo(output.getvalue(), nl=False)


def _csv_cell(value: object) -> object:
    """The value as a spreadsheet can open it: a quote keeps it from running text as a formula."""
    if not isinstance(value, str):
        return value
    text = plain(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text

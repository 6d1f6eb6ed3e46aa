"""`slaq conf …`: check a conf file, show every value and where it came from, print a commented file."""

import math
import os

import click
from rich.table import Table
from rich.text import Text

from slaq.cli._options import conf_option, format_option
from slaq.cli._output import console, echo_json
from slaq.config import KEYS, Config, literal, load, stray_variables, template


@click.group(help=__doc__)
def command() -> None:
    pass


@command.command()
@click.argument("file", type=click.Path(dir_okay=False))
def check(file: str) -> None:
    """Check FILE: every problem with its line and a remedy, exit code 2 if there is one."""
    load(file, env={})
    click.echo(f"{file}: fine")


@command.command()
@conf_option
@format_option("table", "json")
def show(conf_file: str | None, output_format: str) -> None:
    """Show the value of every key and where it came from."""
    config = load(conf_file)
    rows = [(name, value, config.source(name)) for name, value in _values(config).items()]
    if output_format == "json":
        echo_json({name: {"value": _finite(value), "source": source} for name, value, source in rows})
    else:
        table = Table()
        for column in ("key", "value", "from"):
            table.add_column(column, overflow="fold")
        for name, value, source in rows:
            table.add_row(name, Text(literal(value)), Text(source, style="dim" if source == "default" else "bold"))
        console().print(table)
    for name, remedy in stray_variables(os.environ).items():
        click.echo(f"${name} is no key of SLAQ; {remedy}", err=True)


@command.command("template")
def template_command() -> None:
    """Print a conf file with every key, its meaning and its default."""
    click.echo(template(), nl=False)


def _values(config: Config) -> dict[str, object]:
    """Every key's value; users' keys once for each user."""
    values: dict[str, object] = {}
    for key in KEYS:
        section, _, field = key.name.rpartition(".")
        if section != "users.NAME":
            values[key.name] = getattr(getattr(config, section) if section else config, field)
    for user, record in config.users.items():
        values |= {f"users.{user}.{field}": getattr(record, field) for field in record.__struct_fields__}
    return values


def _finite(value: object) -> object:
    """JSON has no infinity: no limit is null."""
    return None if isinstance(value, float) and math.isinf(value) else value

"""`slaq conf …`."""

import math
import os

import click
import msgspec

from slaq.cli._groups import Group
from slaq.cli._options import conf_option, format_option
from slaq.cli._output import console, echo_json
from slaq.config import KEYS, Config, literal, load, reference, stray_variables, template


@click.group(cls=Group)
def command() -> None:
    """Check, show and print configuration."""


@command.command()
@click.argument("file", type=click.Path(dir_okay=False))
def check(file: str) -> None:
    """Check a conf file: every problem with its line and a remedy.

    The exit code is 2 if there is one.
    """
    load(file, env={})
    click.echo(f"{file}: fine")


@command.command()
@conf_option
@format_option("table", "json")
def show(conf_file: str | None, output_format: str) -> None:
    """Show the value of every key and where it comes from.

    Later sources win: default, conf file, environment, Spark's configuration, flag.
    """
    config = load(conf_file)
    rows = [(name, value, config.source(name)) for name, value in _values(config).items()]
    if output_format == "json":
        echo_json({name: {"value": _finite(value), "source": source} for name, value, source in rows})
    else:
        from rich.table import Table
        from rich.text import Text

        table = Table()
        for column in ("key", "value", "from"):
            table.add_column(column, overflow="fold")
        for name, value, source in rows:
            table.add_row(name, Text(literal(value)), Text(source, style="dim" if source == "default" else "bold"))
        console().print(table)
    for name, remedy in stray_variables(os.environ).items():
        click.echo(f"${name} is not a key of SLAQ; {remedy}", err=True)


@command.command("template")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(("toml", "markdown")),
    default="toml",
    show_default=True,
    help="A conf file to edit, or a page to read.",
)
def template_command(output_format: str) -> None:
    """Print a conf file with every key, its meaning and its default."""
    click.echo(template() if output_format == "toml" else reference(), nl=False)


def _values(config: Config) -> dict[str, object]:
    """Every key's value; users' keys once per user, and what of the tuning was set."""
    values: dict[str, object] = {}
    tree = msgspec.to_builtins(config)
    for key in KEYS:
        section, _, field = key.name.rpartition(".")
        if section != "users.NAME":
            values[key.name] = (tree[section] if section else tree)[field]
    for user, record in config.users.items():
        values |= {f"users.{user}.{field}": getattr(record, field) for field in record.__struct_fields__}
    return values | {f"tuning.{field}": value for field, value in config.tuning.items()}


def _finite(value: object) -> object:
    """JSON has no infinity; it is written as null, which reads as no limit."""
    return None if isinstance(value, float) and math.isinf(value) else value

"""What `slaq cluster` and `slaq connect` have in common: options, `down`, and the table of `status`."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from slaq.cli._daemons import Daemons
from slaq.cli._options import known_policy
from slaq.cli._output import console, echo_json
from slaq.config.record import SchedulerConfig

F = TypeVar("F", bound=Callable[..., object])
PORT = click.IntRange(0, 65535)

epoch_option = click.option(
    "--epoch",
    "epoch_s",
    type=click.FloatRange(0.1, 60.0),
    default=1.0,
    show_default=True,
    help="Seconds between decisions.",
)
policy_option = click.option(
    "--policy",
    "policy_name",
    metavar="NAME",
    callback=known_policy,
    default=SchedulerConfig().policy,
    show_default=True,
    help="Who gets the cores.",
)
scheduler_port_option = click.option(
    "--scheduler-port", type=PORT, default=0, help="Of the SLAQ scheduler.  [default: a free one]"
)


def folder_option(default: str, what: str) -> Callable[[F], F]:
    """`--dir`, the folder of a set of daemons."""
    return click.option(
        "--dir",
        "folder",
        type=click.Path(file_okay=False, path_type=Path),
        default=default,
        show_default=True,
        help=f"Folder of the {what}'s settings, logs and state; one {what} per folder.",
    )


def memory_option(help_text: str) -> Callable[[F], F]:
    """`--memory` of a JVM."""
    return click.option("--memory", default="1g", show_default=True, callback=_memory, help=help_text)


def _memory(_: click.Context, __: click.Parameter, value: str) -> str:
    if not re.fullmatch(r"[1-9]\d*[mg]", value.lower()):
        raise click.BadParameter(f"{value!r} is not a size; give a number with m or g, such as 512m")
    return value.lower()


def end(daemons: Daemons[Any]) -> None:
    """The body of `down`."""
    ended = daemons.down()
    click.echo(f"{ended} processes ended" if ended else "Nothing was running")


def facts(daemons: Daemons[Any], spec: Any, **more: object) -> dict[str, object]:
    """What `--format json` prints of a set of daemons."""
    parts = daemons.parts(spec)
    return {
        "running": all(part.pid for part in parts),
        "dir": str(daemons.folder),
        "spark_conf_dir": str(daemons.conf),
        "endpoint": daemons.endpoint(spec),
        "cores": spec.capacity,
        **more,
        "processes": [
            {"role": part.role, "pid": part.pid, "address": part.address, "log": str(part.log)} for part in parts
        ],
    }


def show(daemons: Daemons[Any], spec: Any, output_format: str, **more: object) -> bool:
    """The body of `status`; whether all processes run."""
    found = facts(daemons, spec, **more)
    if output_format == "json":
        echo_json(found)
        return bool(found["running"])
    from rich.table import Table

    table = Table(title=f"{spec.capacity} cores to share", title_justify="left")
    for column in ("process", "pid", "address", "log"):
        table.add_column(column, overflow="fold")
    for part in daemons.parts(spec):
        table.add_row(part.role, str(part.pid or "not running"), part.address, str(part.log))
    console().print(table)
    return bool(found["running"])


def show_none(daemons: Daemons[Any], output_format: str) -> None:
    """The body of `status` where nothing was started."""
    nothing = f"No {daemons.title} runs in {daemons.folder}"
    click.echo('{"running": false}' if output_format == "json" else nothing)

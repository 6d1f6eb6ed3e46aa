"""`slaq connect …`."""

import os
from pathlib import Path

import click

from slaq.cli import _daemon_commands as commands
from slaq.cli._daemon_commands import PORT, epoch_option, memory_option, policy_option, scheduler_port_option
from slaq.cli._groups import Group
from slaq.cli._local_connect import LocalConnect, Spec
from slaq.cli._options import format_option
from slaq.cli._output import echo_json

FOLDER = "~/.local/state/slaq/connect"

folder_option = commands.folder_option(FOLDER, "server")


def _settings(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    found = dict(text.partition("=")[::2] for text in given)
    wrong = [key for key in found if not key.startswith("spark.") or not found[key]]
    if wrong:
        raise click.BadParameter(f"{wrong[0]!r} is no setting of Spark with a value; give spark.KEY=VALUE")
    return found


@click.group(cls=Group)
def command() -> None:
    """Start, inspect and stop a Spark Connect server with SLAQ.

    It runs on this host and its users share its cores; for trials and tests. Clients need `pip install
    'pyspark[connect]'` and nothing of SLAQ.
    """


@command.command()
@folder_option
@click.option(
    "--cores",
    type=click.IntRange(1, 1024),
    default=os.cpu_count() or 1,
    show_default="this host's",
    help="Cores of the server.",
)
@memory_option("Memory of the server.")
@click.option(
    "--conf",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    callback=_settings,
    help="A setting of the server's Spark; may be given several times.",
)
@epoch_option
@policy_option
@click.option("--server-port", type=PORT, default=0, help="Of the Connect server.  [default: a free one]")
@scheduler_port_option
@format_option("table", "json")
def up(
    folder: Path,
    cores: int,
    memory: str,
    settings: dict[str, str],
    epoch_s: float,
    policy_name: str,
    server_port: int,
    scheduler_port: int,
    output_format: str,
) -> None:
    """Start the server, unless it runs already, and print how to use it."""
    connect = LocalConnect(folder)
    there, started = connect.up(
        Spec(
            cores=cores, memory=memory, conf=settings, epoch_s=epoch_s, policy=policy_name,
            server_port=server_port, scheduler_port=scheduler_port,
        )
    )  # fmt: skip
    if output_format == "json":
        echo_json(commands.facts(connect, there, remote=there.remote))
        return
    click.echo(
        f"{'Started' if started else 'Already running'}: {cores} core{'s' * (cores > 1)}, shared between users first\n"
        f"  Spark Connect  {there.remote}\n"
        f"  SLAQ           {connect.endpoint(there)}\n"
        f"  logs           {connect.logs}\n\n"
        f"Use it with\n"
        f'  SparkSession.builder.remote("{there.remote}/;user_id=alice").getOrCreate()\n'
        f"  slaq top --endpoint {connect.endpoint(there)}\n"
        f"End it with\n"
        f"  slaq connect down{'' if str(folder) == FOLDER else f' --dir {folder}'}"
    )


@command.command()
@folder_option
def down(folder: Path) -> None:
    """End the server and its scheduler; logs and history stay.

    Also cleans up after a crash.
    """
    commands.end(LocalConnect(folder))


@command.command()
@folder_option
@format_option("table", "json")
@click.pass_context
def status(ctx: click.Context, folder: Path, output_format: str) -> None:
    """Show the processes of the server.

    The exit code is 1 unless all of them run.
    """
    connect = LocalConnect(folder)
    there = connect.read()
    if there is None:
        commands.show_none(connect, output_format)
        ctx.exit(1)
    ctx.exit(0 if commands.show(connect, there, output_format, remote=there.remote) else 1)

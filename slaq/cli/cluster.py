"""`slaq cluster …`."""

import os
from pathlib import Path

import click

from slaq.cli import _daemon_commands as commands
from slaq.cli._cluster_spec import Spec
from slaq.cli._daemon_commands import PORT, epoch_option, memory_option, policy_option, scheduler_port_option
from slaq.cli._groups import Group
from slaq.cli._local_cluster import LocalCluster, master_facts
from slaq.cli._options import format_option
from slaq.cli._output import echo_json

FOLDER = "~/.local/state/slaq/cluster"

folder_option = commands.folder_option(FOLDER, "cluster")


@click.group(cls=Group)
def command() -> None:
    """Start, inspect and stop a SLAQ-enabled Spark cluster on this host.

    A real standalone cluster, for trials, demos and tests.
    """


@command.command()
@folder_option
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Spark workers.")
@click.option(
    "--cores",
    type=click.IntRange(1, 1024),
    default=None,
    help="Real cores of each worker.  [default: this host's, divided by the workers]",
)
@memory_option("Memory of each executor.")
@click.option(
    "--applications",
    type=click.IntRange(1, 1000),
    default=8,
    show_default=True,
    help="Applications that can run at once: workers declare this many times their cores and memory.",
)
@epoch_option
@policy_option
@click.option("--master-port", type=PORT, default=0, help="Of the Spark master.  [default: a free one]")
@click.option("--web-port", type=PORT, default=0, help="Of the master's web page.  [default: a free one]")
@scheduler_port_option
@format_option("table", "json")
def up(
    folder: Path,
    workers: int,
    cores: int | None,
    memory: str,
    applications: int,
    epoch_s: float,
    policy_name: str,
    master_port: int,
    web_port: int,
    scheduler_port: int,
    output_format: str,
) -> None:
    """Start the cluster, unless it runs already, and print how to use it."""
    each = cores or max((os.cpu_count() or 1) // workers, 1)
    spec = Spec(
        workers=workers, cores=each, memory=memory, applications=applications, epoch_s=epoch_s, policy=policy_name,
        master_port=master_port, web_port=web_port, scheduler_port=scheduler_port,
    )  # fmt: skip
    cluster = LocalCluster(folder)
    there, started = cluster.up(spec)
    if output_format == "json":
        echo_json(commands.facts(cluster, there, **_addresses(there)))
        return
    click.echo(
        f"{'Started' if started else 'Already running'}: {workers} worker{'s' * (workers > 1)}, {spec.capacity} cores "
        f"to share, room for {applications} applications\n"
        f"  Spark master  {there.master}  ({there.web})\n"
        f"  SLAQ          {cluster.endpoint(there)}\n"
        f"  logs          {cluster.logs}\n\n"
        f"Use it with\n"
        f"  export SPARK_CONF_DIR={cluster.conf}\n"
        f"  spark-submit app.py        (or: slaq submit app.py)\n"
        f"  slaq top\n"
        f"End it with\n"
        f"  slaq cluster down{'' if str(folder) == FOLDER else f' --dir {folder}'}"
    )


@command.command()
@folder_option
def down(folder: Path) -> None:
    """End every process of the cluster; logs and history stay.

    Also cleans up after a crash.
    """
    commands.end(LocalCluster(folder))


@command.command()
@folder_option
@format_option("table", "json")
@click.pass_context
def status(ctx: click.Context, folder: Path, output_format: str) -> None:
    """Show the processes of the cluster.

    The exit code is 1 unless all of them run.
    """
    cluster = LocalCluster(folder)
    there = cluster.read()
    if there is None:
        commands.show_none(cluster, output_format)
        ctx.exit(1)
    running = commands.show(cluster, there, output_format, **_addresses(there))
    facts = master_facts(there)
    if output_format == "table" and facts is not None:
        click.echo(f"{facts['aliveworkers']} workers, {len(facts['activeapps'])} applications, {there.web}")
    ctx.exit(0 if running else 1)


def _addresses(there: Spec) -> dict[str, str]:
    return {"master": there.master, "web": there.web}

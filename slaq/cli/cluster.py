"""`slaq cluster …`."""

import os
import re
from pathlib import Path

import click

from slaq.cli._cluster_spec import Running, Spec
from slaq.cli._groups import Group
from slaq.cli._local_cluster import LocalCluster, master_facts
from slaq.cli._options import format_option, known_policy
from slaq.cli._output import console, echo_json
from slaq.config.record import SchedulerConfig

FOLDER = "~/.local/state/slaq/cluster"
PORT = click.IntRange(0, 65535)

folder_option = click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=FOLDER,
    show_default=True,
    help="Folder of the cluster's settings, logs and state; one cluster per folder.",
)


@click.group(cls=Group)
def command() -> None:
    """Start, inspect and stop a SLAQ-enabled Spark cluster on this host.

    A real standalone cluster, for trials, demos and tests.
    """


def _memory(_: click.Context, __: click.Parameter, value: str) -> str:
    if not re.fullmatch(r"[1-9]\d*[mg]", value.lower()):
        raise click.BadParameter(f"{value!r} is not a size; give a number with m or g, such as 512m")
    return value.lower()


@command.command()
@folder_option
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Spark workers.")
@click.option(
    "--cores",
    type=click.IntRange(1, 1024),
    default=None,
    help="Real cores of each worker.  [default: this host's, divided by the workers]",
)
@click.option("--memory", default="1g", show_default=True, callback=_memory, help="Memory of each executor.")
@click.option(
    "--applications",
    type=click.IntRange(1, 1000),
    default=8,
    show_default=True,
    help="Applications that can run at once: workers declare this many times their cores and memory.",
)
@click.option(
    "--epoch",
    "epoch_s",
    type=click.FloatRange(0.1, 60.0),
    default=1.0,
    show_default=True,
    help="Seconds between decisions.",
)
@click.option(
    "--policy",
    "policy_name",
    metavar="NAME",
    callback=known_policy,
    default=SchedulerConfig().policy,
    show_default=True,
    help="Who gets the cores.",
)
@click.option("--master-port", type=PORT, default=0, help="Of the Spark master.  [default: a free one]")
@click.option("--web-port", type=PORT, default=0, help="Of the master's web page.  [default: a free one]")
@click.option("--scheduler-port", type=PORT, default=0, help="Of the SLAQ scheduler.  [default: a free one]")
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
    spec = Spec(workers, each, memory, applications, epoch_s, policy_name, master_port, web_port, scheduler_port)
    cluster = LocalCluster(folder)
    there, started = cluster.up(spec)
    if output_format == "json":
        echo_json(_facts(cluster, there))
        return
    click.echo(
        f"{'Started' if started else 'Already running'}: {workers} worker{'s' * (workers > 1)}, {spec.capacity} cores "
        f"to share, room for {applications} applications\n"
        f"  Spark master  {there.master}  ({there.web})\n"
        f"  SLAQ          {there.endpoint}\n"
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
    ended = LocalCluster(folder).down()
    click.echo(f"{ended} processes ended" if ended else "Nothing was running")


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
        click.echo('{"running": false}' if output_format == "json" else f"No cluster runs in {cluster.folder}")
        ctx.exit(1)
    facts = _facts(cluster, there)
    if output_format == "json":
        echo_json(facts)
    else:
        _show(cluster, there)
    ctx.exit(0 if facts["running"] else 1)


def _facts(cluster: LocalCluster, there: Running) -> dict[str, object]:
    parts = cluster.parts(there)
    return {
        "running": all(part.pid for part in parts),
        "dir": str(cluster.folder),
        "spark_conf_dir": str(cluster.conf),
        "master": there.master,
        "web": there.web,
        "endpoint": there.endpoint,
        "cores": there.spec.capacity,
        "processes": [
            {"role": part.role, "pid": part.pid, "address": part.address, "log": str(part.log)} for part in parts
        ],
    }


def _show(cluster: LocalCluster, there: Running) -> None:
    from rich.table import Table

    table = Table(title=f"{there.spec.capacity} cores to share", title_justify="left")
    for column in ("process", "pid", "address", "log"):
        table.add_column(column, overflow="fold")
    for part in cluster.parts(there):
        table.add_row(part.role, str(part.pid or "not running"), part.address, str(part.log))
    console().print(table)
    facts = master_facts(there)
    if facts is not None:
        click.echo(f"{facts['aliveworkers']} workers, {len(facts['activeapps'])} applications, {there.web}")

"""`slaq version`."""

import importlib.metadata
import platform
import sys

import click

import slaq
from slaq.cli._client import Client
from slaq.cli._options import client_options, format_option
from slaq.cli._output import echo_facts, echo_json
from slaq.cli._text import plain
from slaq.errors import SlaqError
from slaq.protocol import PROTOCOL
from slaq.spark.jar import jar_path


@click.command()
@format_option("table", "json")
@client_options
def command(client: Client, output_format: str) -> None:
    """Show the versions of SLAQ, of Spark and of the scheduler.

    Also where the bridge's jar is, for Spark's configuration. Needs neither Java nor a scheduler.
    """
    facts = {
        "slaq": slaq.__version__,
        "protocol": str(PROTOCOL),
        "python": platform.python_version(),
        "pyspark": _version("pyspark"),
        "platform": sys.platform,
        "bridge": _bridge(),
        "scheduler": _scheduler(client),
    }
    if output_format == "json":
        echo_json(facts)
    else:
        echo_facts(facts)


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _bridge() -> str:
    """The path of the jar, for Spark's configuration."""
    try:
        return str(jar_path())
    except SlaqError as error:
        return str(error)


def _scheduler(client: Client) -> str:
    try:
        status = client.status()
    except SlaqError:
        return f"none answers at {client.address}"
    return f"{plain(status.version)}, protocol {status.protocol}, at {client.address}"

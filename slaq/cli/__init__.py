"""The `slaq` command: one file per subcommand, imported only when it is run."""

import sys

import click

import slaq
from slaq.cli._groups import LazyGroup
from slaq.cli._manual import EXIT_CODES
from slaq.cli._summaries import COMMANDS
from slaq.errors import SlaqError

root = LazyGroup(
    "slaq.cli",
    COMMANDS,
    name="slaq",
    help="Quality-driven scheduling of machine-learning training jobs on unmodified Apache Spark.",
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
click.version_option(slaq.__version__, prog_name="slaq")(root)


def main() -> None:
    """Run the command line; a user's mistake ends with one sentence on stderr and exit code 2."""
    try:
        root(prog_name="slaq")
    except SlaqError as error:
        click.echo(f"slaq: {error}", err=True)
        sys.exit(2)

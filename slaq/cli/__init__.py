"""The `slaq` command: one file per subcommand, found by its name and imported only when it is run."""

import importlib
import pkgutil
import sys

import click

import slaq
from slaq.errors import SlaqError


class PackageGroup(click.Group):
    """A group whose subcommands are the public modules of a package, each exporting `command`."""

    def __init__(self, package: str, **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self.package = package

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        found = pkgutil.iter_modules(importlib.import_module(self.package).__path__)
        return sorted(module.name.replace("_", "-") for module in found if not module.name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"{self.package}.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command


root = PackageGroup(
    "slaq.cli",
    name="slaq",
    help="Quality-driven scheduling of machine-learning training jobs on unmodified Apache Spark.",
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

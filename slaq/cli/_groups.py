"""Groups of subcommands: loaded only when run, and listed with whole summaries."""

import importlib
from collections.abc import Mapping

import click

from slaq.cli._extras import naming_the_extra
from slaq.cli._manual import explained

Sections = Mapping[str, Mapping[str, str]]
"""Summaries by command name, by the title under which `--help` lists them."""


class Group(click.Group):
    """A group whose `--help` wraps long summaries; click cuts them."""

    def sections(self, ctx: click.Context) -> Sections:
        """What `--help` lists."""
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        return {"Commands": {name: first_sentence(found.help or "") for name, found in commands if found is not None}}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections = self.sections(ctx)
        # One column width for all sections, so that the summaries line up.
        width = max(len(name) for names in sections.values() for name in names)
        for title, summaries in sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), summary) for name, summary in summaries.items()])


class LazyGroup(Group):
    """A group whose subcommands are modules of a package that export `command`, each imported when it is run."""

    def __init__(self, package: str, sections: Sections, **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self.package = package
        self._sections = sections

    def sections(self, ctx: click.Context) -> Sections:  # noqa: ARG002
        return self._sections

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(name for names in self._sections.values() for name in names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        with naming_the_extra(f"`{ctx.command_path} {cmd_name}`"):
            module = importlib.import_module(f"{self.package}.{cmd_name.replace('-', '_')}")
        return explained(f"{ctx.command_path} {cmd_name}".partition(" ")[2], module.command)


def first_sentence(text: str) -> str:
    """The first sentence of a help text, on one line and without its full stop."""
    paragraph = " ".join(text.strip().partition("\n\n")[0].split())
    return paragraph.partition(". ")[0].removesuffix(".")

"""Every command in the documents exists, with its options; those that ask a scheduler are run against one."""

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from slaq.cli import root
from tests.cli.command import slaq
from tests.cli.scheduler import Scheduler, running_scheduler, training
from tests.docs.pages import ROOT, Command, commands

PLACEHOLDER = re.compile(r"\b[A-Z]{1,12}\b")
QUICK = (
    "status",
    "top",
    "jobs",
    "job",
    "explain",
    "set",
    "hold",
    "release",
    "stop",
    "cancel",
    "dump",
    "version",
    "conf",
)
"""Commands that answer at once, given a scheduler."""


def words(command: Command) -> list[str]:
    """The words as a shell would give them, up to a redirection; an ellipsis stands for more of the same."""
    split = shlex.split(command.line, comments=True)
    kept = split[: min((i for i, word in enumerate(split) if word in (">", "|", "&")), default=len(split))]
    return [word.removesuffix("…") for word in kept if word != "…"]


def of(program: str) -> list[Command]:
    return [command for command in commands() if command.line.split()[0] == program]


def leaf(arguments: list[str]) -> tuple[click.Command, list[str], list[str]]:
    """The command, its path, and what is left for it."""
    found: click.Command = root
    path: list[str] = []
    while isinstance(found, click.Group) and arguments and not arguments[0].startswith("-"):
        name, *arguments = arguments
        with click.Context(found) as context:
            inner = found.get_command(context, name)
        assert inner is not None, f"there is no `slaq {' '.join([*path, name])}`"
        found = inner
        path.append(name)
    return found, path, arguments


@pytest.mark.parametrize("command", of("slaq"), ids=str)
def test_slaq_commands_exist_with_their_options(command: Command) -> None:
    _, *arguments = words(command)
    if arguments[0] == "COMMAND":
        return
    found, path, left = leaf(arguments)
    if path == ["submit"]:
        assert not [word for word in left if word.startswith("examples/") and not (ROOT / word).exists()]
        return
    if isinstance(found, click.Group):
        assert not command.whole or left == ["--help"], f"`{command.line}` lacks a subcommand"
        return
    try:
        found.make_context(" ".join(path), left)
    except click.exceptions.Exit:
        assert {"--help", "-h"} & set(left)
    except (click.MissingParameter, click.BadOptionUsage):
        assert not command.whole, f"`{command.line}` cannot be typed like that"
    except click.BadParameter as error:
        # A file of the reader's, or a word for a value, such as N.
        if not (isinstance(getattr(error.param, "type", None), click.Path) or PLACEHOLDER.search(error.message)):
            raise


def test_every_command_that_is_named_has_help() -> None:
    paths = {tuple(leaf(words(command)[1:])[1]) for command in of("slaq") if words(command)[1] != "COMMAND"}
    assert len(paths) > 20
    for path in paths:
        assert slaq(*path, "--help").code == 0


@pytest.mark.parametrize("command", of("make"), ids=str)
def test_make_targets_exist(command: Command) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in words(command)[1:]:
        assert re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE)


@pytest.mark.parametrize("command", of("pip"), ids=str)
def test_what_is_installed_exists(command: Command) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for wanted in re.findall(r"(?:slaq|\.)\[([\w,]+)\]", command.line):
        assert set(wanted.split(",")) <= extras.keys()


@pytest.mark.parametrize("command", of("python"), ids=str)
def test_programs_exist(command: Command) -> None:
    for word in words(command)[1:]:
        assert not word.endswith(".py") or (ROOT / word).exists()


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scheduler]:
    with running_scheduler(tmp_path_factory.mktemp("scheduler")) as found:
        found.beat("abc123", [training("one", [1.0, 0.5, 0.4])])
        found.wait_epochs(1)
        yield found


def quick() -> list[str]:
    """Whole commands that end by themselves, each once."""
    lines = dict.fromkeys(shlex.join(words(command)) for command in of("slaq") if command.whole)
    return [line for line in lines if line.split()[1] in QUICK and "--watch" not in line and line != "slaq top"]


@pytest.mark.parametrize("line", quick())
def test_quick_commands_run(line: str, scheduler: Scheduler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SLAQ_ENDPOINT", scheduler.endpoint)
    Path("slaq.toml").write_text(slaq("conf", "template").out, "utf-8")
    _, *arguments = shlex.split(line)
    result = slaq(*("abc123-one" if word == "ID" else "slaq.toml" if word == "FILE" else word for word in arguments))
    assert result.code == 0, result.err
    assert result.out

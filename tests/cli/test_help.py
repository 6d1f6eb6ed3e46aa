"""`--help`: every command with its whole summary, without loading any of them."""

import contextlib
import importlib
import json
import pkgutil
import shlex
import subprocess
import sys

import click
import pytest

import slaq.bench
import slaq.cli
from slaq.cli._groups import Group, first_sentence
from slaq.cli._manual import ARGUMENTS, EXAMPLES, shown
from slaq.cli._summaries import BENCHMARKS, COMMANDS
from tests.cli.command import slaq as run

LOADED = """
import json, sys
from slaq.cli import main
try:
    main()
finally:
    sys.stderr.write(json.dumps(sorted(sys.modules)))
"""
HEAVY = {"rich", "numpy", "scipy", "pyspark", "py4j", "matplotlib"}
LISTS = [(slaq.cli, COMMANDS), (slaq.bench, BENCHMARKS)]


def loaded_by(*arguments: str) -> set[str]:
    """The modules that a new process has loaded when `slaq` with these arguments is done."""
    done = subprocess.run([sys.executable, "-c", LOADED, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr))


def unspaced(text: str) -> str:
    """The text without the spaces and line breaks that depend on the width."""
    return "".join(text.split())


def summaries(sections) -> dict[str, str]:
    return {name: summary for names in sections.values() for name, summary in names.items()}


@pytest.mark.parametrize(("package", "sections"), LISTS)
def test_the_list_names_every_command_there_is(package, sections):
    modules = {module.name.replace("_", "-") for module in pkgutil.iter_modules(package.__path__)}
    assert summaries(sections).keys() == {name for name in modules if not name.startswith("-")}


@pytest.mark.parametrize(("package", "sections"), LISTS)
@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_no_summary_is_cut_however_narrow_the_terminal(package, sections, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    group = ("bench",) if package is slaq.bench else ()
    text = unspaced(run(*group, "--help").out)
    for name, summary in summaries(sections).items():
        assert unspaced(name + summary) in text


@pytest.mark.parametrize("arguments", [("--help",), ("bench", "--help")])
def test_listing_commands_loads_none_of_them(arguments):
    loaded = loaded_by(*arguments)
    assert not loaded & HEAVY
    commands = {f"slaq.cli.{name}" for name in summaries(COMMANDS)} | {f"slaq.bench.{n}" for n in summaries(BENCHMARKS)}
    assert loaded & commands <= {"slaq.cli.bench"}


@pytest.mark.parametrize("command", ["status", "job", "explain", "hold", "set", "dump", "version", "jobs", "cluster"])
def test_help_of_a_command_loads_neither_numpy_nor_spark_nor_rich(command):
    assert not loaded_by(command, "--help") & HEAVY


@pytest.mark.parametrize("section", [title for title in COMMANDS if title != "Simulate and measure"])
def test_a_commands_own_help_begins_with_its_summary(section):
    for name, summary in COMMANDS[section].items():
        if name != "demo":
            assert first_sentence(importlib.import_module(f"slaq.cli.{name}").command.help) == summary


def test_a_summary_fits_into_a_line_of_eighty_columns():
    for sections in (COMMANDS, BENCHMARKS):
        widest = max(map(len, summaries(sections)))
        assert all(widest + 4 + len(summary) <= 78 for summary in summaries(sections).values())


def test_a_long_first_sentence_is_listed_whole():
    group = Group(commands=[click.Command("one", help=f"Do {'very ' * 30}much. And more.\n\nAnd still more.")])
    text = group.get_help(click.Context(group, terminal_width=60))
    assert f"one Do {'very ' * 30}much" in " ".join(text.split())
    assert "more" not in text


def test_an_unknown_command_is_an_error_of_its_own():
    result = run("statsu")
    assert result.code == 2
    assert "No such command 'statsu'" in result.err


def every_command() -> dict[str, click.Command]:
    """All commands by the words that call them."""
    found: dict[str, click.Command] = {}

    def gather(group: click.Group, context: click.Context) -> None:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                gather(command, click.Context(command, parent=context, info_name=name))
            else:
                found[f"{context.command_path} {name}".partition(" ")[2]] = command

    gather(slaq.cli.root, click.Context(slaq.cli.root, info_name="slaq"))
    return found


@pytest.fixture(scope="module")
def commands() -> dict[str, click.Command]:
    return every_command()


def test_every_option_and_every_argument_is_explained(commands):
    assert len(commands) > 35
    for path, command in commands.items():
        text = unspaced(command.get_help(click.Context(command, info_name=path)))
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"slaq {path} {parameter.opts}"
            else:
                assert unspaced(ARGUMENTS[shown(parameter)]) in text


def test_every_command_has_a_description_of_whole_sentences(commands):
    for path, command in commands.items():
        paragraphs = [" ".join(part.split()) for part in command.help.split("\n\n")]
        assert all(part[0].isupper() or part[0] in '`"' for part in paragraphs), path
        assert all(part.endswith((".", "?", ":")) for part in paragraphs), path
        assert not command.help.startswith(("`slaq", "Slaq"))


def test_every_command_for_people_has_an_example(commands):
    benchmarks = {path for path in commands if path.startswith("bench ")}
    assert commands.keys() - benchmarks <= EXAMPLES.keys() <= commands.keys()


class FilesOfTheReadersError(Exception):
    """An example names a file that is not there."""


def read(command: click.Command, path: str, given: list[str]) -> None:
    """Read a command line up to its last check."""
    try:
        command.make_context(path, given)
    except click.BadParameter as error:
        if "does not exist" not in str(error):
            raise
        raise FilesOfTheReadersError from None


@pytest.mark.parametrize("path", EXAMPLES)
def test_the_examples_in_a_commands_help_are_read_by_it(commands, path):
    command = commands[path]
    for example in EXAMPLES[path]:
        assert example in command.get_help(click.Context(command, info_name=path))
        words = shlex.split(example.partition(" > ")[0], comments=False)
        given = words[1 + len(path.split()) :]
        assert words[1 : 1 + len(path.split())] == path.split()
        with contextlib.suppress(FilesOfTheReadersError):
            read(command, path, given)


def test_the_exit_codes_stand_at_the_top():
    text = run("--help").out
    assert "Exit codes:" in text
    for code, meaning in (("0", "It is done."), ("1", "does not hold"), ("2", "A mistake in the command line")):
        assert any(code in line and meaning in line for line in text.splitlines())

"""Command lines: every command with options of their types and others; a mistake is one sentence and exit code 2."""

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import click

from slaq.bench._fuzzing import BrokenError
from slaq.bench._grammar import TEXTS, odd
from slaq.errors import SlaqError

RUN = frozenset(
    [
        "status",
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
        "conf-check",
        "conf-show",
        "conf-template",
        "trace-record",
        "trace-curves",
    ]
)
"""Commands that are carried out, against a real scheduler; of the others, which start Spark, clusters, servers or
long computations, the command line is read as far as its last check."""
IDS = ("app0001-1", "app0001", "nobody", "*", "", "app0001-…", "honest")


class Commands:
    """The whole command line of a group."""

    name = "command lines"

    def __init__(self, root: click.Group, endpoint: str, folder: Path) -> None:
        self._root, self._endpoint, self._folder = root, endpoint, folder
        folder.mkdir()
        (folder / "good.toml").write_text("weight = 2.0\n")
        (folder / "bad.toml").write_bytes(b"weight = [\xff")
        (folder / "empty.log").touch()
        self._leaves = list(_leaves(root, ()))

    def case(self, random: Random) -> str:
        """See Target.case."""
        path, command = random.choice(self._leaves)
        arguments = [_sendable(text) for text in self._arguments(random, command)]
        out = io.TextIOWrapper(io.BytesIO(), "utf-8")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            try:
                if "-".join(path) not in RUN:
                    with command.make_context(path[-1], arguments, parent=click.Context(self._root, info_name="slaq")):
                        return "read"
                code = self._root.main([*path, *arguments], "slaq", standalone_mode=False)
            except (SlaqError, click.ClickException) as error:
                if not str(error):
                    raise BrokenError(f"{path} {arguments!r} was refused without a sentence") from None
                return "refused"
            except click.exceptions.Exit as ended:
                code = ended.exit_code
            except SystemExit as ended:
                code = ended.code
            except Exception as error:
                raise BrokenError(f"{path} {arguments!r}: {type(error).__name__}: {error}") from error
            finally:
                out.flush()
        if code not in (None, 0, 1, 2):
            raise BrokenError(f"{path} {arguments!r} ended with {code}")
        return "done"

    def check(self) -> None:
        """Command lines leave nothing behind in this process."""

    def close(self) -> None:
        """See Target.close."""

    def _arguments(self, random: Random, command: click.Command) -> list[str]:
        words: list[str] = []
        for parameter in command.params:
            if isinstance(parameter, click.Argument):
                words += [self._value(random, parameter) for _ in range(random.choice((0, 1, 1, 1, 1, 2)))]
            elif parameter.name not in ("help", "watch") and (parameter.required or random.random() < 0.25):
                words += self._option(random, parameter)
        if {"endpoint"} <= {parameter.name for parameter in command.params} and "--endpoint" not in words:
            words += ["--endpoint", self._endpoint]
        if random.random() < 0.1:
            words.insert(
                random.randrange(len(words) + 1), random.choice(("--no-such", "-x", "--", "--help", "-", "--="))
            )
        if random.random() < 0.05 and words:
            words.pop(random.randrange(len(words)))
        return words

    def _option(self, random: Random, parameter: click.Parameter) -> Sequence[str]:
        name = random.choice([*parameter.opts, *parameter.secondary_opts])
        if getattr(parameter, "is_flag", False) or getattr(parameter, "count", False):
            return [name]
        return [name, self._value(random, parameter)] * (1 + (random.random() < 0.05))

    def _value(self, random: Random, parameter: click.Parameter) -> str:
        kind: Any = parameter.type
        if isinstance(kind, click.Path):  # nothing may be written outside of the folder
            return str(
                self._folder / random.choice(("good.toml", "bad.toml", "empty.log", "new", "none/x", ".", "ä\x1b"))
            )
        if random.random() < 0.4:
            return str(odd(random)) if random.random() < 0.5 else random.choice(TEXTS)
        if isinstance(kind, click.Choice):
            return str(random.choice(list(kind.choices)))
        if isinstance(kind, click.types.IntParamType | click.types.FloatParamType):
            return str(random.choice((0, 1, 2, 0.5, 100)))
        if parameter.name == "endpoint":
            return random.choice((self._endpoint, "http://127.0.0.1:9", "ftp://x", "http://", "http://[::1"))
        return random.choice((*IDS, "1.5", "fair", "worth_end=0.5"))


def _leaves(group: click.Group, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], click.Command]]:
    """Every command with the names that lead to it."""
    found: list[tuple[tuple[str, ...], click.Command]] = []
    context = click.Context(group, info_name="slaq")
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            found += _leaves(command, (*path, name))
        elif command is not None:
            found.append(((*path, name), command))
    return found


def _sendable(text: str) -> str:
    """The text as a program finds it among its arguments: no NUL, bytes that are not UTF-8 escaped."""
    return text.replace("\x00", "").encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")

"""Reading a conf file, and finding the line of a key in it."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from slaq.errors import SlaqError

KeyPath = tuple[str, ...]


class ConfFile:
    """A conf file that was read: its tables, and the line of every key."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.text = path.read_text("utf-8")
            self.tables: dict[str, Any] = tomllib.loads(self.text)
        except OSError as error:
            raise SlaqError(
                f"cannot read {path}: {error.strerror}; give another file with --conf or SLAQ_CONF"
            ) from None
        except UnicodeDecodeError:
            raise SlaqError(f"{path} is not UTF-8 text; save it as UTF-8") from None
        except (ValueError, RecursionError) as error:  # a number of thousands of digits is no TOMLDecodeError
            line, message = _located(str(error), self.text)
            raise SlaqError(f"{path}:{line}: {message}; the file has to be TOML, texts stand in quotes") from None

        self.lines = statement_lines(self.text)

    def where(self, key: KeyPath) -> str:
        """The file and line of the statement that sets a key."""
        return f"{self.path}:{self.lines[key]}"


def statement_lines(text: str) -> dict[KeyPath, int]:
    """The line on which the statement begins that sets each value or opens each table of a valid document.

    A statement is the shortest run of lines that the TOML parser accepts by itself; what it sets is read with the
    header of its table before it.
    """
    found: dict[KeyPath, int] = {}
    header = statement = ""
    begin = 1
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        statement += line
        try:
            tomllib.loads(statement)
        except ValueError:
            continue  # the statement goes on
        if statement.lstrip().startswith("["):
            header, statement = statement, ""
        for path in _paths(tomllib.loads(header + statement)):
            found.setdefault(path, begin)
        statement, begin = "", number + 1
    return found


def _paths(tables: object, above: KeyPath = ()) -> Iterator[KeyPath]:
    if isinstance(tables, dict):
        for name, value in tables.items():
            yield (*above, name)
            yield from _paths(value, (*above, name))


def _located(message: str, text: str) -> tuple[int, str]:
    """The line in a message of the TOML parser, and the message without it."""
    found = re.search(r" \(at line (\d+), column \d+\)$", message)
    if found is None:
        return max(len(text.splitlines()), 1), message.removesuffix(" (at end of document)")
    return int(found[1]), message[: found.start()]

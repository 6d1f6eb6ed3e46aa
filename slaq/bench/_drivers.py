"""Drivers of a measurement in processes of their own, controlled by lines on their standard input."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

from slaq.errors import SlaqError

Driver: TypeAlias = "subprocess.Popen[str]"


@contextmanager
def driver(module: str, *arguments: str) -> Iterator[Driver]:
    """Run `python -m module`; it ends with the block, when its input does."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", module, *arguments]
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
    try:
        yield process
    finally:
        process.communicate()


def tell(process: Driver, line: str) -> None:
    """Write a line to a driver."""
    assert process.stdin is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()


def answer(process: Driver, until: str) -> str:
    """The next line of a driver that begins so."""
    for line in process.stdout or ():
        if line.startswith(until):
            return line
    raise SlaqError(f"a driver of the measurement ended before it said {until!r}")

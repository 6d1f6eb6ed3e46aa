"""What every target of the fuzzer has in common: drawn cases one after the other, counted by how they went."""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

CHECKED = 500
"""Cases between two looks at what has to hold at all times."""
MOST_TOLD = 20
"""Broken properties that are kept of a target; more are only counted."""
LONGEST_S = 10.0
"""CPU seconds of one case; the longest right ones take a tenth of one."""


class BrokenError(Exception):
    """A property does not hold."""


class Target(Protocol):
    """Something that takes input from outside."""

    name: str

    def case(self, random: Random) -> str:
        """One case; in a word how it went. Whatever it raises is a broken property."""

    def check(self) -> None:
        """Look at what has to hold after any number of cases."""

    def close(self) -> None:
        """Give back what was taken."""


@dataclass(slots=True)
class Tally:
    """How the cases of one target went."""

    name: str
    cases: int
    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    broken: int = 0
    told: list[str] = field(default_factory=list)


def run(target: Target, cases: int, seed: int) -> Tally:
    """Put this many cases to a target."""
    tally, began_s = Tally(target.name, cases), time.monotonic()
    for number in range(cases):
        before_s = time.process_time()
        try:
            outcome = target.case(Random(f"{seed} {target.name} {number}"))
            tally.outcomes[outcome] += 1
            if (took_s := time.process_time() - before_s) > LONGEST_S:
                raise BrokenError(f"it took {took_s:.1f} CPU seconds")
            if number % CHECKED == CHECKED - 1 or number == cases - 1:
                target.check()
        except Exception as error:
            _broken(tally, number, error)
    tally.seconds = time.monotonic() - began_s
    return tally


def _broken(tally: Tally, number: int, error: Exception) -> None:
    tally.broken += 1
    if len(tally.told) < MOST_TOLD:
        what = str(error) if isinstance(error, BrokenError) else f"{type(error).__name__}: {error}"
        tally.told.append(f"{tally.name} case {number}: {what[:3000]!r} at {' < '.join(_where(error))}")


def _where(error: BaseException) -> Iterator[str]:
    """The innermost places in our own code."""
    trace, places = error.__traceback__, []
    while trace is not None:
        code = trace.tb_frame.f_code
        if "slaq" in code.co_filename:
            places.append(f"{code.co_filename.rpartition('slaq/')[2]}:{trace.tb_lineno}")
        trace = trace.tb_next
    return reversed(places[-4:])

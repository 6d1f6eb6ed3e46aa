"""`slaq bench fuzz`: drawn input for everything that takes some, right in most parts and wrong in the rest."""

import logging
import platform
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click

from slaq.bench._fuzz_answers import Answers
from slaq.bench._fuzz_commands import Commands
from slaq.bench._fuzz_files import file_targets
from slaq.bench._fuzz_requests import Requests
from slaq.bench._fuzz_screens import Screens
from slaq.bench._fuzz_sockets import SchedulerProcess, Sockets
from slaq.bench._fuzzing import Tally, Target, run
from slaq.bench._output import emit, format_option

SHARES = {
    "requests": 0.57,
    "requests without tokens": 0.25,
    "sockets": 0.02,
    "command lines": 0.02,
    "screens": 0.01,
    "answers": 0.02,
    "conf files": 0.01,
    "decision logs": 0.02,
    "journals": 0.02,
    "recordings": 0.02,
    "loss curves": 0.02,
    "past fits": 0.02,
}
"""How the cases are divided among the targets: by what others can reach, and by what a case costs."""


@click.command(name="fuzz")
@click.option("--cases", default=100_000, show_default=True, type=click.IntRange(1), help="Cases of all targets.")
@click.option("--seed", default=1, show_default=True, help="Another seed, other cases.")
@click.option("--only", type=click.Choice(sorted(SHARES)), help="All cases for this target.")
@format_option
@click.pass_context
def command(ctx: click.Context, cases: int, seed: int, only: str | None, output_format: str) -> None:
    """Put drawn input to every route, message, file, screen and command line, and look for what must not happen.

    Requests are drawn from the types of the messages and the table of routes, files from the types of their records,
    command lines from the options. Most are then spoiled: other types and values, huge, cut, repeated, garbled.
    What must not happen: an answer of 500 or more, a stack trace for a user's mistake, a refused request that changes
    something, another user's job shown, a limit that does not hold, control characters in an answer, a scheduler that
    is not there afterwards. A case is repeated by its seed and number.

    The exit code is 1 if something of this happened.
    """
    root = ctx.find_root().command
    assert isinstance(root, click.Group)
    tallies = fuzz(root, cases, seed, only)
    rows = [
        {
            "target": tally.name,
            "cases": tally.cases,
            "a second": round(tally.cases / max(tally.seconds, 1e-9)),
            "broken": tally.broken,
            "outcomes": ", ".join(f"{outcome} {count}" for outcome, count in sorted(tally.outcomes.items())),
        }
        for tally in tallies
    ]
    total, seconds = sum(tally.cases for tally in tallies), sum(tally.seconds for tally in tallies)
    told = [told for tally in tallies for told in tally.told]
    facts = {"seed": seed, "cases": total, "seconds": seconds, "python": platform.python_version()}
    title = f"{total} cases of seed {seed} in {seconds:.0f} s"
    emit(output_format, {**facts, "targets": rows, "broken": told}, title, rows)
    if output_format == "table":
        click.echo("".join(f"{line}\n" for line in told), nl=False)
    ctx.exit(1 if told else 0)


def fuzz(root: click.Group, cases: int, seed: int, only: str | None = None) -> list[Tally]:
    """Put this many cases to all targets or to one; `root` is the command line."""
    shares = SHARES if only is None else {only: 1.0}
    with _quiet(), _targets(root, set(shares)) as targets:
        return [run(target, max(round(cases * shares[target.name]), 1), seed) for target in targets]


@contextmanager
def _quiet() -> Iterator[None]:
    """Warnings are what the cases are made for; errors are not."""
    log = logging.getLogger("slaq")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


@contextmanager
def _targets(root: click.Group, names: set[str]) -> Iterator[list[Target]]:
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder, targets = Path(name), list[Target]()
        targets += [Requests(tokens) for tokens in (True, False)]
        if names & {"sockets", "command lines"}:
            process = SchedulerProcess(folder / "scheduler")
            stack.callback(process.close)
            targets += [Sockets(process), Commands(root, process.endpoint, folder / "commands")]
        targets += [Screens(root), Answers(), *file_targets(folder)]
        for target in targets:
            stack.callback(target.close)
        yield [target for target in targets if target.name in names]

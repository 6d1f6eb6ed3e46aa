"""`slaq doctor`."""

import subprocess
import sys
from collections.abc import Sequence

import click
import msgspec

from slaq.cli._options import format_option
from slaq.cli._output import console, echo_json
from slaq.cli._text import plain

PROGRAM = "slaq.driver.examination"
TIMEOUT_S = 180.0


class Finding(msgspec.Struct, frozen=True):
    """One thing that was tried; without an essential one SLAQ does not work."""

    what: str
    holds: bool
    essential: bool
    says: str = ""


@click.command()
@format_option("table", "json")
def command(output_format: str) -> None:
    """Start a small local Spark and tell what of SLAQ works in it.

    Uses the installed pyspark and its Java. The exit code is 1 if something essential does not hold.
    """
    findings = examine()
    if output_format == "json":
        echo_json({"ok": healthy(findings), "findings": findings})
    else:
        _print_table(findings)
    if not healthy(findings):
        sys.exit(1)


def healthy(findings: Sequence[Finding]) -> bool:
    """Whether everything essential holds."""
    return all(finding.holds for finding in findings if finding.essential)


def examine() -> list[Finding]:
    """The findings of a driver in a process of its own, whose log messages nobody needs to see."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", PROGRAM], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return [Finding("Spark starts", False, True, f"no answer within {TIMEOUT_S:.0f} s")]
    for line in reversed(done.stdout.splitlines()):
        try:
            return msgspec.json.decode(line, type=list[Finding])
        except msgspec.DecodeError:
            continue
    return [Finding("Spark starts", False, True, _last_words(done.stderr))]


def _last_words(stderr: str) -> str:
    """The line of a failed program that says why, not the way there."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if "Error" in line or "Exception" in line]
    return (errors or lines or ["no message"])[-1]


def _print_table(findings: Sequence[Finding]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("", "what", "says"):
        table.add_column(heading, overflow="fold")
    for finding in findings:
        mark = "ok" if finding.holds else "FAILS" if finding.essential else "no"
        table.add_row(mark, finding.what, plain(finding.says))
    console().print(table)
    verdict = "SLAQ works with this Spark." if healthy(findings) else "SLAQ does not work with this Spark."
    click.echo(verdict)

"""Print once, or draw over the same screen until Ctrl-C: what `--watch` does."""

import shutil
import sys
import time
from collections.abc import Callable

import click

from slaq.cli._client import Client, UnreachableError

ENTER, LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
"""The terminal's second screen without a cursor, and back."""

watch_option = click.option("--watch", is_flag=True, help="Draw it again and again; Ctrl-C ends it.")
interval_option = click.option(
    "--interval", type=click.FloatRange(0.1, 3600.0), help="Seconds between updates.  [default: an epoch]"
)


def show(draw: Callable[[], str], client: Client, watch: bool, interval: float | None) -> None:
    """Print what `draw` returns; with `watch` again after every interval. A scheduler that restarts is waited for."""
    if not watch:
        click.echo(draw())
        return
    pause_s = interval or client.status().epoch_s
    screen = sys.stdout.isatty()
    try:
        if screen:
            click.echo(ENTER, nl=False)
        while True:
            try:
                text = draw()
            except UnreachableError as error:
                text = f"{error}\n\nTrying again …"
            click.echo(_over(text) if screen else text, nl=not screen)
            time.sleep(pause_s)
    except KeyboardInterrupt:
        return
    finally:
        if screen:
            click.echo(LEAVE, nl=False)


def refuse_for_programs(watch: bool, output_format: str) -> None:
    """`--watch` draws for people."""
    if watch and output_format != "table":
        raise click.UsageError(f"--watch draws for people; leave out --format {output_format}, or ask again yourself")


def _over(text: str) -> str:
    """The text from the top of the screen on, each line and the rest of the screen cleared; at most a screen of it."""
    lines = text.splitlines()[: shutil.get_terminal_size().lines - 1]
    return "\x1b[H" + "".join(f"{line}\x1b[K\n" for line in lines) + "\x1b[J"

"""The demo's live table: jobs, how much of their loss is left, their cores; plain lines without a terminal."""

import threading
from collections.abc import Sequence
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from slaq.predict.standing import standing
from slaq.workload.stream import Planned
from slaq.workload.watch import Watch

REFRESH_S = 0.5
LINE_EVERY = 20
"""Refreshes between two lines where there is no terminal."""


class DemoView:
    """Draws in a thread of its own; hand `tell` and `live` to the run."""

    def __init__(self, console: Console, stream: Sequence[Planned], cores: int) -> None:
        self._console, self._stream, self._cores = console, stream, cores
        self._about = ""
        self._watch: Watch | None = None
        self._states: dict[str, str] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._draw, name="demo-view", daemon=True)

    def tell(self, about: str) -> None:
        """Show what happens until the next stream begins."""
        self._about, self._watch = about, None
        if not self._console.is_terminal:
            self._console.print(about)

    def live(self, watch: Watch, states: dict[str, str]) -> None:
        """Show this stream from now on."""
        self._watch, self._states = watch, states

    def __enter__(self) -> "DemoView":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _draw(self) -> None:
        if not self._console.is_terminal:
            refreshes = 0
            while not self._stop.wait(REFRESH_S):
                refreshes += 1
                if self._watch is not None and refreshes % LINE_EVERY == 0:
                    self._console.print(self._line(self._watch))
            return
        with Live(self._table(), console=self._console, auto_refresh=False, transient=True) as live:
            while not self._stop.wait(REFRESH_S):
                live.update(self._table(), refresh=True)

    def _line(self, watch: Watch) -> str:
        left = [loss_left(watch.curve(job.name)) for job in self._stream if self._states.get(job.name) == "running"]
        ended = sum(state == "ended" for state in self._states.values())
        average = f", {100 * sum(left) / len(left):.0f} % of the loss left" if left else ""
        return f"{watch.elapsed_s():5.0f} s: {len(left)} training, {ended} ended{average}"

    def _table(self) -> Table:
        watch = self._watch
        clock = f", {watch.elapsed_s():.0f} s" if watch else ""
        table = Table(title=f"{self._about}{clock}", title_justify="left")
        for column in ("job", "iteration", "loss", "left to gain", "cores", ""):
            table.add_column(column, justify="right" if column in ("iteration", "loss", "cores") else "left")
        samples = watch.latest() if watch else {}
        for job in self._stream:
            state = self._states.get(job.name) if watch else None
            if watch is None or state is None:
                table.add_row(Text(job.name, style="dim"), "", "", "", "", "")
                continue
            curve = watch.curve(job.name)
            left = ProgressBar(total=1.0, completed=loss_left(curve), width=24)
            last = f"{curve[-1][1]:.5g}" if curve else ""
            cores = samples[job.name].cores if job.name in samples and state == "running" else None
            table.add_row(
                Text(job.name, style="dim" if state == "ended" else "bold"),
                str(max(len(curve) - 1, 0)),
                last,
                left if state == "running" else "done",
                "" if cores is None else f"{cores:.1f}",
                "" if cores is None else "█" * round(8 * cores / self._cores),
            )
        return table


def loss_left(curve: Sequence[tuple[float, float]]) -> float:
    """What is left of a job's expected loss reduction, as a share of the whole."""
    return 1.0 - standing([loss for _, loss in curve]).reached

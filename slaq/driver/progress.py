"""The progress of all running fits while they run: rows at the bottom of a terminal, one line in a notebook's cell."""

import sys
import time
from collections.abc import Sequence
from typing import TextIO

from slaq.driver.grouping import sections
from slaq.driver.notices import log
from slaq.driver.status import JobStatus
from slaq.driver.terminal import Bottom, usable
from slaq.protocol.names import printable

SHOWN_EVERY_S = 0.5
"""Often enough to look alive, seldom enough to cost nothing."""

WIDTH = 118
"""Of the line in a notebook."""

LABEL = 44
"""Characters of a job's name."""


class Progress:
    """Shows the running jobs where somebody looks, and nothing elsewhere."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr  # kept: with it, its descriptor would go
        self._show = _place(self._stream)
        self._shown_at = 0.0

    def due(self) -> bool:
        """Whether it is time to show the jobs again."""
        return self._show is not None and time.monotonic() - self._shown_at >= SHOWN_EVERY_S

    def show(self, jobs: Sequence[JobStatus]) -> None:
        """Show the jobs that run; nothing stays when none does."""
        self._shown_at = time.monotonic()
        running = [job for job in jobs if job.state == "running" and job.loss is not None]
        if self._show is None:
            return
        try:
            self._show.show(running) if running else self._show.close()
        except (OSError, ValueError):
            log.debug("the progress of the fits could not be shown", exc_info=True)
            self._show = None

    def close(self) -> None:
        """Take everything away, so that what the program prints next starts on a clean line."""
        self.show(())


def _place(stream: TextIO) -> "Rows | Line | None":
    """Where to show them; None: nobody looks, or the terminal is too simple."""
    if type(stream).__module__.startswith("ipykernel"):
        return Line(stream)
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError, AttributeError):
        return None
    return Rows(Bottom(descriptor)) if usable(descriptor) else None


class Rows:
    """One row for each job, on a terminal."""

    def __init__(self, bottom: Bottom) -> None:
        self._bottom = bottom

    def show(self, running: Sequence[JobStatus]) -> None:
        """Renew the rows."""
        self._bottom.show(rows(running, self._bottom.room, self._bottom.columns))

    def close(self) -> None:
        """Give the rows back."""
        self._bottom.close()


class Line:
    """The job that reported last and how many others there are, rewritten in place: a cell has no rows to give."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown = ""
        self._seen: dict[str, int | None] = {}
        self._job = ""

    def show(self, running: Sequence[JobStatus]) -> None:
        """Rewrite the line."""
        for job in running:
            if self._seen.get(job.id, None) != job.iteration:
                self._job = job.id
        self._seen = {job.id: job.iteration for job in running}
        shown = next((job for job in running if job.id == self._job), running[-1])
        others = f" · {len(running) - 1} more" if len(running) > 1 else ""
        self._write(f"SLAQ {printable(shown.name)} · {facts(shown)}{others}"[:WIDTH])

    def close(self) -> None:
        """Remove the line."""
        if self._shown:
            self._write("")

    def _write(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(len(self._shown)) + ("" if text else "\r"))
        self._stream.flush()
        self._shown = text


def rows(running: Sequence[JobStatus], most: int, columns: int) -> list[str]:
    """The jobs by group, candidates told apart by their parameters; what does not fit is counted in the last row."""
    found = []
    for heading, members in sections(running):
        if heading:
            found.append(f"{_name(heading)}: {len(members)} fits")
        indent = "  " if heading else ""
        found += [f"{indent}{_name(label):<{LABEL - len(indent)}.{LABEL}} {facts(job)}" for label, job in members]
    if len(found) >= most > 0:
        found = [*found[: most - 2], f"… {len(running)} fits run in all"] if most > 1 else []
    if not found:
        return []
    return ["─── SLAQ ".ljust(columns, "─"), *found]


def facts(job: JobStatus) -> str:
    """`iteration 12 · loss 0.6931 · Δ 1.2e-03 · 1.5 cores · 95 % in 8 s`."""
    parts = [f"iteration {job.iteration}", f"loss {job.loss:.6g}"]
    if job.delta is not None:
        parts.append(f"Δ {job.delta:.2g}")
    parts.append("all cores" if job.cores is None else f"{job.cores:.3g} cores")
    if job.seconds_to_95 is not None:
        parts.append("95 % reached" if job.seconds_to_95 == 0.0 else f"95 % in {_duration(job.seconds_to_95)}")
    return " · ".join(parts)


def _name(text: str) -> str:
    return printable(text)[:LABEL]


def _duration(seconds: float) -> str:
    if seconds < 60.0:
        return f"{seconds:.0f} s" if seconds >= 1.0 else "< 1 s"
    if seconds < 3600.0:
        return f"{seconds / 60.0:.0f} min"
    return f"{seconds / 3600.0:.1f} h"

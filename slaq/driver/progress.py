"""The progress line of the running fit, rewritten in place on stderr; shown on a terminal or in a notebook only."""

import sys
import time
from collections.abc import Sequence
from typing import TextIO

from slaq.driver.status import JobStatus
from slaq.protocol.names import printable

SHOWN_EVERY_S = 0.5
"""Often enough to look alive, seldom enough to cost nothing."""

WIDTH = 118


class Progress:
    """Shows the job that reported last, and how many others there are."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._shown = ""
        self._shown_at = 0.0
        self._seen: dict[str, int | None] = {}
        self._job = ""

    @property
    def visible(self) -> bool:
        """Whether stderr is a terminal, or belongs to a notebook's kernel."""
        kernel = type(self._stream).__module__.startswith("ipykernel")
        return kernel or bool(getattr(self._stream, "isatty", lambda: False)())

    def due(self) -> bool:
        """Whether it is time to show the jobs again."""
        return self.visible and time.monotonic() - self._shown_at >= SHOWN_EVERY_S

    def show(self, jobs: Sequence[JobStatus]) -> None:
        """Rewrite the line; remove it when no job runs."""
        self._shown_at = time.monotonic()
        running = [job for job in jobs if job.state == "running" and job.loss is not None]
        for job in running:
            if self._seen.get(job.id, None) != job.iteration:
                self._job = job.id
        self._seen = {job.id: job.iteration for job in running}
        if not running:
            self.close()
            return
        shown = next((job for job in running if job.id == self._job), running[-1])
        self._write(line(shown, len(running) - 1))

    def close(self) -> None:
        """Remove the line, so that what the program prints next starts on a clean one."""
        if self._shown:
            self._write("")

    def _write(self, text: str) -> None:
        try:
            self._stream.write("\r" + text.ljust(len(self._shown)) + ("" if text else "\r"))
            self._stream.flush()
            self._shown = text
        except (OSError, ValueError):
            self._shown = ""


def line(job: JobStatus, others: int) -> str:
    """`KMeans_a1b2 · iteration 12 · loss 0.6931 · Δ 1.2e-03 · 1.5 cores · 95 % in 8 s · 3 more`."""
    parts = [printable(job.name)]
    parts.append(f"iteration {job.iteration}")
    parts.append(f"loss {job.loss:.6g}")
    if job.delta is not None:
        parts.append(f"Δ {job.delta:.2g}")
    parts.append("all cores" if job.cores is None else f"{job.cores:.3g} cores")
    if job.seconds_to_95 is not None:
        parts.append("95 % reached" if job.seconds_to_95 == 0.0 else f"95 % in {_duration(job.seconds_to_95)}")
    if others:
        parts.append(f"{others} more")
    return ("SLAQ " + " · ".join(parts))[:WIDTH]


def _duration(seconds: float) -> str:
    if seconds < 60.0:
        return f"{seconds:.0f} s" if seconds >= 1.0 else "< 1 s"
    if seconds < 3600.0:
        return f"{seconds / 60.0:.0f} min"
    return f"{seconds / 3600.0:.1f} h"

"""What the tab in Spark's own UI shows of the jobs, as the driver's JVM reads it; written while somebody looks."""

import time
from collections.abc import Callable, Sequence

from slaq.driver.grouping import sections
from slaq.driver.status import JobStatus
from slaq.protocol.names import printable, sendable

TOLD_EVERY_S = 1.0

JOBS = 200
"""Shown at most: the latest."""

LONGEST = 200
"""Characters of a name."""


class WebTab:
    """The text of the tab: the address of the scheduler's page, then one line for each job and each group's heading."""

    def __init__(self, endpoints: Sequence[str]) -> None:
        self._page = f"{endpoints[0].rstrip('/')}/ui/" if endpoints else ""
        self._told_at = float("-inf")

    def tell(self, show: Callable[[str], None], jobs: Callable[[], Sequence[JobStatus]]) -> None:
        """Show the jobs, unless that was done within the last second."""
        now = time.monotonic()
        if now - self._told_at >= TOLD_EVERY_S:
            show(self.text(jobs()))
            self._told_at = now

    def text(self, jobs: Sequence[JobStatus]) -> str:
        """Lines of cells, separated by tabs; escaping is left to the JVM, which makes HTML of it."""
        lines = [self._page]
        for heading, members in sections(jobs[-JOBS:]):
            if heading:
                lines.append(f"{_text(heading)}: {len(members)} jobs")
            lines += ["\t".join(_cells(label, job)) for label, job in members]
        return "".join(f"{line}\n" for line in lines)


def _cells(label: str, job: JobStatus) -> tuple[str, ...]:
    return (
        _text(label),
        job.state,
        "" if job.iteration is None else str(job.iteration),
        "" if job.loss is None else f"{job.loss:.6g}",
        "" if job.state != "running" else "all" if job.cores is None else f"{job.cores:.3g}",
        "" if job.reached is None else f"{100.0 * job.reached:.0f}",
    )


def _text(text: str) -> str:
    return sendable(printable(text[:LONGEST]))

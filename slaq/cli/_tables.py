"""The table of jobs. Only commands that draw it import this: it loads rich."""

from collections import Counter
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from slaq.cli._text import bar, cores, duration, number, plain
from slaq.protocol import JobView


def shown(text: str) -> Text:
    """A name in a table: its brackets are brackets, not markup."""
    return Text(plain(text))


def jobs_table(jobs: Sequence[JobView], now_at: float, capacity: float) -> Table:
    """One line per job; the column of groups only if several jobs are of one."""
    sizes = Counter((job.user, job.group) for job in jobs if job.group)
    grouped = any(size > 1 for size in sizes.values())
    table = Table(expand=False)
    # Commands take the id, so it is never cut.
    table.add_column("id", no_wrap=True, min_width=max((len(plain(job.id)) for job in jobs), default=0))
    for column in ("user", *(["group"] if grouped else []), "job", "estimator", "state", "age"):
        table.add_column(column, overflow="ellipsis", no_wrap=True)
    for column in ("iteration", "loss"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("loss left", no_wrap=True)
    table.add_column("cores", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for job in jobs:
        table.add_row(*_row(job, grouped, now_at, capacity))
    return table


def _row(job: JobView, grouped: bool, now_at: float, capacity: float) -> tuple[str | Text, ...]:
    return (
        shown(job.id),
        shown(job.user),
        *([shown(job.group)] if grouped else []),
        shown(job.name),
        shown(job.estimator),
        Text(job.state),
        duration((job.ended_at or now_at) - job.began_at),
        str(job.iteration) if job.iteration is not None else "-",
        "diverged" if job.diverged else number(job.loss),
        bar(job.normalised_loss),
        cores(job.cores),
        Text(bar(job.cores / capacity if capacity else None), style="green"),
    )

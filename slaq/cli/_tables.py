"""The table of jobs, as wide as the screen. Only commands that draw it import this: it loads rich.

Id, job, state, loss and cores are always there; the other columns come by importance while there is room.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from slaq.cli._candidates import Group, grouped, states, told_apart
from slaq.cli._ids import short_ids
from slaq.cli._states import COLOURS
from slaq.cli._text import bar, cores, duration, number, plain
from slaq.protocol import JobView

GAP = 2
"""Between columns."""

LEAST_NAME = 20
"""Columns for the names of jobs before any column that can be spared."""

MOST_NAME = 48
"""Columns that a name may take."""

LONGEST_CELL = 24
"""Of users and estimators."""


@dataclass(frozen=True, slots=True)
class Column:
    """What a table shows of a job, and of a group of them."""

    title: str
    of_job: Callable[[JobView, "Scale"], str]
    of_group: Callable[[Group], str] = lambda _: ""
    right: bool = False


@dataclass(frozen=True, slots=True)
class Scale:
    """What numbers of jobs are compared with."""

    now_at: float
    capacity: float


STATE = Column("state", lambda job, _: job.state, states)
LOSS = Column("loss", lambda job, _: "diverged" if job.diverged else number(job.loss), right=True)
CORES = Column(
    "cores", lambda job, _: cores(job.cores), lambda group: cores(sum(job.cores for job in group.jobs)), right=True
)
ITERATION = Column("iter", lambda job, _: "-" if job.iteration is None else str(job.iteration), right=True)
LEFT = Column("loss left", lambda job, _: bar(job.normalised_loss))
USER = Column("user", lambda job, _: _cut(plain(job.user)), lambda group: _cut(plain(group.jobs[0].user)))
AGE = Column("age", lambda job, scale: duration((job.ended_at or scale.now_at) - job.began_at), right=True)
ESTIMATOR = Column("estimator", lambda job, _: _cut(plain(job.estimator)))
SHARE = Column("share", lambda job, scale: bar(job.cores / scale.capacity if scale.capacity else None))

SHOWN = (USER, STATE, AGE, ESTIMATOR, ITERATION, LOSS, LEFT, CORES, SHARE)
"""From left to right, after id and job."""

SPARED = (ITERATION, USER, LEFT, AGE, SHARE, ESTIMATOR)
"""The most important first."""


def shown(text: str) -> Text:
    """A name in a table: its brackets are brackets, not markup."""
    return Text(plain(text))


def jobs_table(jobs: Sequence[JobView], now_at: float, capacity: float, width: int, whole_ids: bool = False) -> Table:
    """One line per job, those of a group under the group's line; at most `width` columns wide."""
    scale = Scale(now_at, capacity)
    ids = dict(zip((job.id for job in jobs), [job.id for job in jobs] if whole_ids else short_ids(jobs), strict=True))
    columns, for_name = _fitting(jobs, scale, width - max([cell_len(plain(i)) for i in ids.values()], default=2))
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    # Commands take the id, so it is never cut.
    table.add_column("id", no_wrap=True, overflow="ignore")
    table.add_column("job", no_wrap=True, overflow="ellipsis", max_width=for_name)
    for column in columns:
        table.add_column(column.title, no_wrap=True, justify="right" if column.right else "left")
    for group in grouped(jobs):
        names = [job.name for job in group.jobs]
        if len(group.jobs) > 1:
            line, apart = told_apart(group, for_name - 2)
            names = [f"  {each}" for each in apart]
            head = [column.of_group(group) for column in columns]
            table.add_row(f"{len(group.jobs)} jobs", shown(line), *map(Text, head), style="bold")
        for job, name in zip(group.jobs, names, strict=True):
            table.add_row(shown(ids[job.id]), shown(name), *(_cell(column, job, scale) for column in columns))
    return table


def _fitting(jobs: Sequence[JobView], scale: Scale, room: int) -> tuple[list[Column], int]:
    """The columns for which there is room beside id and job, and the columns left for the job's name."""
    groups = grouped(jobs)
    names = [
        name for group in groups for name in (told_apart(group, MOST_NAME)[1] if group.name else [group.jobs[0].name])
    ]
    wanted = min(max((cell_len(plain(name)) + 2 for name in names), default=LEAST_NAME), MOST_NAME)

    def taken(column: Column) -> int:
        texts = [column.of_job(job, scale) for job in jobs] + [column.of_group(group) for group in groups]
        return GAP + max(map(cell_len, (column.title, *texts)))

    chosen = [STATE, LOSS, CORES]
    room -= GAP + sum(map(taken, chosen))
    for column in SPARED:
        # Only the first of them is worth more than the whole of the names.
        reserve = min(wanted, LEAST_NAME) if column is SPARED[0] else wanted
        if (cost := taken(column)) > room - reserve:
            break
        chosen.append(column)
        room -= cost
    return [column for column in SHOWN if column in chosen], max(min(room, MOST_NAME), 1)


def _cell(column: Column, job: JobView, scale: Scale) -> Text:
    text = column.of_job(job, scale)
    style = {STATE: COLOURS[job.state], LOSS: "red" if job.diverged else "", SHARE: "green"}.get(column, "")
    return Text(text, style=style)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"

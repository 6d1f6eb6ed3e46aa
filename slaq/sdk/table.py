"""What `slaq.jobs()` returns: a list of records that a notebook shows as a table, by group, with sparklines."""

from collections.abc import Sequence
from html import escape

from slaq.driver.grouping import sections
from slaq.driver.status import JobStatus
from slaq.protocol.names import printable

WIDTH, HEIGHT = 120, 20
"""Of a sparkline, in pixels."""

POINTS = 120
"""Losses drawn in one: one for each pixel."""

_HEADINGS = ("job", "state", "iteration", "loss", "curve", "cores", "reached")


class JobTable(list[JobStatus]):
    """The jobs as a list, in their own order."""

    def _repr_html_(self) -> str:
        """Jobs of one group stand together, told apart by the parameters in which they differ."""
        head = "".join(f'<th scope="col">{heading}</th>' for heading in _HEADINGS)
        rows = "".join(_group(heading, members) for heading, members in sections(self))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _group(heading: str, members: Sequence[tuple[str, JobStatus]]) -> str:
    rows = "".join(_row(job, label) for label, job in members)
    if not heading:
        return rows
    return f'<tr><th scope="rowgroup" colspan="{len(_HEADINGS)}">{_text(heading)}: {len(members)} jobs</th></tr>' + rows


def _row(job: JobStatus, label: str) -> str:
    cells = (
        _text(label),
        _text(job.state),
        "" if job.iteration is None else str(job.iteration),
        "" if job.loss is None else f"{job.loss:.6g}",
        sparkline(job.losses),
        "" if job.state != "running" else "all" if job.cores is None else f"{job.cores:.3g}",
        "" if job.reached is None else f"{job.reached:.0%}",
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def sparkline(losses: Sequence[float]) -> str:
    """The curve as a drawing of its own; nothing for fewer than two losses."""
    if len(losses) < 2:
        return ""
    count = min(len(losses), POINTS)
    drawn = [losses[place * (len(losses) - 1) // (count - 1)] for place in range(count)]
    low, high = min(drawn), max(drawn)
    # Halves first: the difference of two finite losses may not be finite.
    span = high / 2 - low / 2 or 1.0
    points = " ".join(
        f"{place * WIDTH / (count - 1):.1f},{1 + (HEIGHT - 2) * ((high / 2 - loss / 2) / span):.1f}"
        for place, loss in enumerate(drawn)
    )
    about = f"loss from {losses[0]:.6g} to {losses[-1]:.6g}"
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{about}">'
        f'<polyline points="{points}" fill="none" stroke="currentColor"/></svg>'
    )


def _text(text: str) -> str:
    return escape(printable(text))

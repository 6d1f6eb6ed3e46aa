"""One HTML file with all figures in it, to be read without the paper and without a network."""

import base64
import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from slaq.sim.figures.paper import FIGURES

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
figure { margin: 0 } img { max-width: 100% } h2 { margin-top: 2.5rem }
.paper { background: #f4f1ea; padding: .5rem .8rem } table { border-collapse: collapse }
td, th { padding: .25rem .8rem .25rem 0; text-align: right } td:first-child, th:first-child { text-align: left }
"""

_INTRODUCTION = """
<p>SLAQ shares the cores of a cluster among machine-learning jobs. Training improves a model quickly at first and
slowly later, so a core is worth more to a young job than to one that is nearly done. Instead of giving every job the
same (<b>fair</b>), SLAQ predicts what a core would buy each job in the coming seconds and gives it to the one that
gains most (<b>max-total</b>, the policy of the paper; <b>max-total:weighted-fit</b> with the paper's own fits of the
loss curves, which is SLAQ as published). <b>finish-line</b> is our own: the job closest to 90 % or
95 % of its loss reduction, or to its end, goes first, so that jobs also end early.</p>
<p>Everything below is simulated with the scheduler's own decision engine on loss curves recorded from real training
with Spark MLlib. <b>Loss</b> measures how wrong a model is; it is normalised, 1 when a job starts and 0 when it ends.
The box under each figure is what the paper (SLAQ, SoCC 2017) printed for its cluster of 20 machines.</p>
"""


def write_report(path: Path, images: Mapping[str, Path], facts: Mapping[str, Any]) -> None:
    """Write the report; images are put into it."""
    sections = [_section(number, images[number]) for number in FIGURES if number in images]
    configuration = ", ".join(f"{html.escape(name)} {html.escape(str(value))}" for name, value in facts["run"].items())
    path.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>SLAQ: the evaluation, reproduced</title>'
        f"<style>{_STYLE}</style><h1>SLAQ: the evaluation, reproduced</h1>{_INTRODUCTION}"
        f"<h2>In short</h2>{_table(facts['summary'])}{''.join(sections)}"
        f"<h2>How this was made</h2><p>slaq {html.escape(facts['version'])}; {configuration}.</p></html>\n",
        encoding="utf-8",
    )


def _section(number: str, image: Path) -> str:
    figure = FIGURES[number]
    content = base64.b64encode(image.read_bytes()).decode("ascii")
    return (
        f"<h2>Figure {number}. {html.escape(figure.title)}</h2><p>{html.escape(figure.about)}</p>"
        f'<figure><img alt="Figure {number}" src="data:image/png;base64,{content}"></figure>'
        f'<p class="paper"><b>The paper printed:</b> {html.escape(figure.printed)}</p>'
    )


def _table(rows: Sequence[Mapping[str, object]]) -> str:
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row.values()) + "</tr>" for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"

"""The comparison as one HTML page that needs nothing else: numbers, plots, and every job's curve."""

from collections.abc import Sequence
from html import escape

from slaq.workload import svg
from slaq.workload.measures import loss_over_time, mean_completion, mean_time_to, time_to
from slaq.workload.results import StreamRun

STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:1000px;margin:2em auto;padding:0 1em;color:#222}"
    "svg{width:100%;max-width:760px}svg text{font:11px sans-serif;fill:#333}svg text.small{font-size:9px}"
    "table{border-collapse:collapse}td,th{padding:.2em .8em;border-bottom:1px solid #ddd;text-align:right}"
    "td:first-child,th:first-child{text-align:left}.grid{display:grid;grid-template-columns:1fr 1fr;gap:1em}"
)


def page(runs: Sequence[StreamRun], title: str, facts: Sequence[str]) -> str:
    """One page about runs of the same stream, one per policy."""
    until_s = max(run.makespan_s for run in runs)
    over_time = {run.policy: list(zip(*loss_over_time(run, until_s), strict=True)) for run in runs}
    sections = [
        f"<h1>{escape(title)}</h1>",
        "".join(f"<p>{escape(fact)}</p>" for fact in facts),
        numbers(runs),
        "<h2>Average normalised loss of all jobs that have arrived</h2>",
        svg.line_chart(over_time, "seconds", "1: as it arrived, 0: as it ended"),
        "<h2>Seconds from arrival to 90 % of a job's own loss reduction</h2>",
        svg.bars(
            {job.name: {run.policy: time_to(run.jobs[i], 0.9) for run in runs} for i, job in enumerate(runs[0].jobs)},
            "seconds",
        ),
        *(cores_moving(run) for run in runs if run.samples),
        "<h2>Every job's loss</h2>",
        f'<div class="grid">{"".join(curves(runs, i) for i in range(len(runs[0].jobs)))}</div>',
    ]
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    return f"<!doctype html><html lang=en><head>{head}</head><body>{''.join(sections)}</body></html>"


def numbers(runs: Sequence[StreamRun]) -> str:
    """The table on top."""
    lines = [
        "<tr><th>policy</th><th>mean time to 90 %</th><th>to 95 %</th><th>to the end</th><th>whole stream</th></tr>"
    ]
    for run in runs:
        values = (mean_time_to(run, 0.9), mean_time_to(run, 0.95), mean_completion(run), run.makespan_s)
        cells = "".join(f"<td>{value:.1f} s</td>" for value in values)
        lines.append(f"<tr><td>{escape(run.policy)}</td>{cells}</tr>")
    return f"<table>{''.join(lines)}</table>"


def cores_moving(run: StreamRun) -> str:
    """Cores granted to each job over time."""
    lines = {
        job.name: [(sample.at_s, sample.cores or 0.0) for sample in run.samples if sample.job == job.name]
        for job in run.jobs
    }
    chart = svg.line_chart(lines, "seconds", "cores granted", steps=True)
    return f"<h2>Cores moving between jobs ({escape(run.policy)})</h2>{chart}"


def curves(runs: Sequence[StreamRun], number: int) -> str:
    """One job's loss under every policy, from its arrival."""
    lines = {}
    for run in runs:
        job = run.jobs[number]
        fall = (job.losses[0] - job.losses[-1]) if job.losses else 0.0
        lines[run.policy] = [
            (at_s - job.arrived_s, (loss - job.losses[-1]) / (fall or 1.0))
            for at_s, loss in zip(job.times_s, job.losses, strict=True)
        ]
    chart = svg.line_chart(lines, "seconds after arrival", "loss, 1 to 0")
    return f"<figure><figcaption>{escape(runs[0].jobs[number].name)}</figcaption>{chart}</figure>"

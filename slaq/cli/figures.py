"""Make the paper's figures from our own runs: PNG files, one HTML report with all of them, and the numbers as JSON.

`overview.png` shows the two that matter most in one picture.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

import slaq
from slaq.model import FloatArray
from slaq.predict.forecast import forecast_series
from slaq.predict.outlook import Forecast
from slaq.predict.series import pack
from slaq.predict.weighted_fit import fit_series
from slaq.sim.curves import Curve, recorded
from slaq.sim.figures import cluster, curves
from slaq.sim.figures.decisions import decision_times
from slaq.sim.figures.draw import draw_all, draw_overview, pyplot
from slaq.sim.figures.report import write_report
from slaq.sim.workload import Setting

DECISIONS = ((1000, 2000, 4000), (4000, 16000))
"""Jobs and cores of Figure 10c."""


@click.command(help=__doc__)
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder to write to.")
@click.option("--seeds", default=3, show_default=True, type=click.IntRange(1), help="Workloads per setting.")
@click.option("--jobs", default=160, show_default=True, type=click.IntRange(8), help="Jobs that arrive.")
def command(out: Path, seeds: int, jobs: int) -> None:
    pyplot()  # before minutes of work, not after
    out.mkdir(parents=True, exist_ok=True)
    setting = Setting(jobs=jobs)
    data = _data(setting, recorded(), range(seeds), lambda what: click.echo(f"{what} …", err=True))
    facts = {
        "version": slaq.__version__,
        "run": {"jobs": jobs, "cores": setting.cores, "seconds between arrivals": setting.gap_s, "seeds": seeds},
        "summary": _summary(data["7b"]),
        "figures": data,
    }
    (out / "figures.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    draw_overview(data, out / "overview.png")
    write_report(out / "report.html", draw_all(data, out), facts)
    click.echo(f"{out / 'report.html'}")


def _data(setting: Setting, known: list[Curve], seeds: range, tell: Callable[[str], None]) -> dict[str, Any]:
    tell("figures 1 and 5")
    data: dict[str, Any] = {"1": curves.diminishing_returns(known), "5": curves.normalised_changes(known)}
    tell("figures 6 and 10a")
    methods = {"last change": _last_change, "paper's fit": _one(fit_series), "SLAQ here": _one(forecast_series)}
    errors = curves.prediction_errors(known, methods)
    data["6"], data["10a"] = errors, errors["ten_ahead_by_algorithm"]
    tell("figures 3, 7 and 8")
    shared = cluster.shared_cluster(setting, known, seeds)
    data |= {"3": shared["one_job"], "7a": shared["average_loss"], "7b": shared["time_to"], "8": shared["core_groups"]}
    data["by_age"] = shared["by_age"]
    data["9"] = cluster.by_contention(setting, known, seeds, tell)
    data["10b"] = cluster.iteration_times()
    tell("figure 10c")
    data["10c"] = decision_times(known, *DECISIONS)
    return data


def _last_change(losses: FloatArray, ahead: FloatArray) -> FloatArray:
    """Every further iteration changes the loss by as much as the last one did."""
    return np.asarray(losses[-1] + ahead * (losses[-1] - losses[-2]))


def _one(forecast: Forecast) -> curves.Predict:
    """A forecast for a single history."""
    return lambda losses, ahead: forecast(pack([losses]), ahead.tolist())[0]


def _summary(times: dict[str, Any]) -> list[dict[str, object]]:
    """Mean seconds to 90, 95 and 100 %, and how they compare with fair."""
    rows: list[dict[str, object]] = []
    for name in cluster.POLICIES:
        row: dict[str, object] = {"policy": name}
        for share, title in ((0.9, "to 90 %"), (0.95, "to 95 %"), (1.0, "to the end")):
            at = times["shares"].index(share)
            row[title] = f"{times[name][at]:.0f} s ({100 * (times[name][at] / times['fair'][at] - 1):+.0f} %)"
        rows.append(row)
    return rows

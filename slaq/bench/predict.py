"""`slaq bench predict`: the error of loss forecasts on recorded runs, compared with the paper's and simpler ones.

The error is scale-free: |predicted - true| / |first - last loss of the run|, averaged over the positions of a run and
then over runs. Every method forecasts from the same positions, evenly spread over each run from 5 known losses on.
`weighted-fit` is the paper's predictor as it can be chosen for scheduling, `scipy-fit` the same to the letter.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from slaq.bench._baselines import BASELINES
from slaq.bench._output import emit, format_option
from slaq.bench._traces import read_runs
from slaq.errors import SlaqError
from slaq.predict import LEARNED, forecast
from slaq.predict.forecast import forecast_series
from slaq.predict.outlook import Forecast
from slaq.predict.series import pack
from slaq.predict.weighted_fit import fit_series

AHEAD = (1, 5, 10)
FIRST = 5
OURS = LEARNED
GOLDEN = 0.6180339887498949
"""Multiples of the golden ratio spread evenly over [0, 1), however many there are."""

PREDICTORS: Mapping[str, Forecast] = {OURS: forecast_series, "weighted-fit": fit_series}

Errors = dict[str, float]


@click.command(help=__doc__)
@click.option("--traces", type=click.Path(path_type=Path), help="Runs to forecast; the recorded ones by default.")
@click.option(
    "--positions",
    default=10,
    show_default=True,
    type=click.IntRange(min=1),
    help="Positions per run; the fits of the baselines take most of the time.",
)
@format_option
def command(traces: Path | None, positions: int, output_format: str) -> None:
    runs = read_runs(traces)
    places = [
        (i, k) for i, run in enumerate(runs) for k in spread(len(run["losses"]), positions, shift=GOLDEN * i % 1.0)
    ]
    if not places:
        raise SlaqError(f"No run has more than {FIRST} losses; give longer ones.")
    known = pack([runs[i]["losses"][:k] for i, k in places])
    predicted = {name: method(known, AHEAD) for name, method in PREDICTORS.items()} | _baselines(runs, places)
    errors = {method: run_errors(runs, places, values) for method, values in predicted.items()}
    everywhere = [(i, k) for i, run in enumerate(runs) for k in range(FIRST, len(run["losses"]))]
    all_positions = run_errors(runs, everywhere, forecast([runs[i]["losses"][:k] for i, k in everywhere], AHEAD))
    facts = _facts(runs, errors, all_positions)
    facts["positions"] = {"compared": len(places), "all": len(everywhere)}
    emit(output_format, facts, "Scale-free error in % of a run's range", _rows(facts))


def spread(losses: int, count: int, shift: float) -> list[int]:
    """Up to `count` numbers of known losses, FIRST or more and fewer than all, `shift` of a step into equal steps.

    Errors fall steeply along a run; with another shift for every run, all stages of training are seen equally often.
    """
    available = losses - FIRST
    if available <= count:
        return list(range(FIRST, losses))
    return [FIRST + int(available * (i + shift) / count) for i in range(count)]


def run_errors(
    runs: Sequence[Mapping[str, Any]], places: Sequence[tuple[int, int]], predicted: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Mean scale-free error of each run at each horizon; NaN where a run is too short or has no range."""
    total, count = np.zeros((len(runs), len(AHEAD))), np.zeros((len(runs), len(AHEAD)))
    for (i, k), row in zip(places, predicted, strict=True):
        losses = runs[i]["losses"]
        size = abs(losses[0] - losses[-1])
        for column, ahead in enumerate(AHEAD):
            if k + ahead <= len(losses) and size > 0.0:
                total[i, column] += abs(row[column] - losses[k + ahead - 1]) / size
                count[i, column] += 1.0
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0.0)


def _baselines(runs: Sequence[Mapping[str, Any]], places: Sequence[tuple[int, int]]) -> dict[str, NDArray[np.float64]]:
    histories = [np.array(runs[i]["losses"][:k], dtype=np.float64) for i, k in places]
    with ProcessPoolExecutor() as pool:
        rows = list(
            track(
                pool.map(_all_baselines, histories, chunksize=4),
                description="fitting the baselines",
                total=len(histories),
                console=Console(stderr=True),
                transient=True,
            )
        )
    return {name: np.array([row[name] for row in rows]) for name in BASELINES}


def _all_baselines(losses: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    ahead = np.array(AHEAD, dtype=np.float64)
    return {name: baseline(losses, ahead) for name, baseline in BASELINES.items()}


def _facts(
    runs: Sequence[Mapping[str, Any]],
    errors: Mapping[str, NDArray[np.float64]],
    all_positions: NDArray[np.float64],
) -> dict[str, Any]:
    kinds = sorted({run["kind"] for run in runs})
    algorithms = sorted({run["algorithm"] for run in runs})

    def table(**wanted: str) -> dict[str, Errors]:
        rows = [i for i, run in enumerate(runs) if all(run[key] == value for key, value in wanted.items())]
        return {
            str(ahead): {method: _mean(error[rows, column]) for method, error in errors.items()}
            for column, ahead in enumerate(AHEAD)
            if np.isfinite(errors[OURS][rows, column]).any()
        }

    def everywhere(kind: str) -> Errors:
        chosen = all_positions[[run["kind"] == kind for run in runs]].T
        return {
            str(ahead): _mean(column) for ahead, column in zip(AHEAD, chosen, strict=True) if np.isfinite(column).any()
        }

    by_algorithm = {a: {kind: table(algorithm=a, kind=kind) for kind in kinds} for a in algorithms}
    return {
        "ahead": list(AHEAD),
        "runs": {kind: sum(run["kind"] == kind for run in runs) for kind in kinds},
        "errors": {kind: table(kind=kind) for kind in kinds},
        "by_algorithm": {
            a: {kind: known for kind, known in by_kind.items() if known} for a, by_kind in by_algorithm.items()
        },
        f"{OURS}_at_every_position": {kind: everywhere(kind) for kind in kinds},
    }


def _mean(values: NDArray[np.float64]) -> float:
    return float(np.nanmean(values))


def _rows(facts: Mapping[str, Any]) -> list[dict[str, object]]:
    """One row per kind and horizon, then one per algorithm's smooth runs at the farthest horizon."""
    far = str(AHEAD[-1])
    rows = [
        ({"runs": f"{kind} ({facts['runs'][kind]})", "ahead": ahead}, table)
        for kind, horizons in facts["errors"].items()
        for ahead, table in horizons.items()
    ]
    rows += [
        ({"runs": f"{algorithm}, smooth", "ahead": far}, kinds["smooth"][far])
        for algorithm, kinds in facts["by_algorithm"].items()
        if far in kinds.get("smooth", {})
    ]
    return [{**head, **{method: 100.0 * error for method, error in table.items()}} for head, table in rows]

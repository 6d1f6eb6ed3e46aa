"""`slaq bench learn`: learn the forecaster's gate from past runs, and how well it does on algorithms it has not seen.

The error printed is scale-free, as in `slaq bench predict`, at every position from 5 known losses on. "unseen" is
cross-validated: the runs of each algorithm are forecast by a gate learned without them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from slaq.bench import _remaining as remaining
from slaq.bench._learning import Examples, examples, learn, shares
from slaq.bench._output import emit, format_option
from slaq.bench._traces import read_runs
from slaq.bench.predict import AHEAD, FIRST, run_errors
from slaq.data import generated_curves, recorded_fits
from slaq.predict.candidates import NAMES, outline
from slaq.predict.curves import way_ahead
from slaq.predict.features import features
from slaq.predict.learned import GATE
from slaq.predict.remaining import MILESTONES
from slaq.predict.series import pack
from slaq.predict.window import look_back

Array = NDArray[np.float64]

LOSSES = ((0, 0), (1, 1), (2, 3), (4, 7), (8, 15), (16, 10**9))
"""Numbers of known losses for which the distribution is judged apart."""


@click.command(help=__doc__)
@click.option("--traces", type=click.Path(path_type=Path), help="Runs to learn from; the recorded ones by default.")
@click.option("--generated/--no-generated", default=True, help="Learn from the runs generated for this purpose, too.")
@click.option(
    "--starts", default=4, show_default=True, type=click.IntRange(min=1), help="Searches; the best one counts."
)
@click.option(
    "--what",
    type=click.Choice(["gate", "remaining"]),
    default="gate",
    show_default=True,
    help="The gate of the forecaster, or the distribution of remaining iterations.",
)
@click.option("--write", type=click.Path(path_type=Path), help="Write what was learned to this Python file.")
@format_option
def command(
    traces: Path | None, generated: bool, starts: int, what: str, write: Path | None, output_format: str
) -> None:
    recorded = read_runs(traces)
    if what == "remaining":
        _learn_remaining(recorded if traces else [*recorded, *recorded_fits()], write, output_format)
        return
    runs = recorded + (generated_curves() if generated else [])
    data = examples(runs)
    shown = Shown(recorded)
    unseen = _cross_validated(runs, data, shown)
    gate = learn(data, starts)
    if write is not None:
        write.write_text(_module(gate), encoding="utf-8")
    unseen_errors, seen_errors = shown.errors(unseen), shown.errors(shown.forecast(gate))
    rows = [
        {"runs": kind, "ahead": ahead, "unseen": 100.0 * error, "seen": 100.0 * seen_errors[kind][ahead]}
        for kind, errors in unseen_errors.items()
        for ahead, error in errors.items()
    ]
    facts = {"runs": len(runs), "unseen": unseen_errors, "seen": seen_errors}
    emit(output_format, facts, "Scale-free error in % of a run's range", rows)


def _learn_remaining(runs: Sequence[dict[str, Any]], write: Path | None, output_format: str) -> None:
    """Learn the distribution; judge it with the algorithm of each run left out, and its name hidden."""
    data = remaining.states(runs)
    algorithm = np.array([run["algorithm"] for run in runs])[data.run]
    score, place = (np.empty((len(MILESTONES), len(data.left))) for _ in range(2))
    miss = np.empty(len(data.left))
    rng = np.random.default_rng(0)
    console = Console(stderr=True)
    for name in track(sorted(set(algorithm)), description="leaving one out", console=console, transient=True):
        here = algorithm == name
        others, unseen = remaining.learn(data.where(~here)), data.where(here).unnamed()
        score[:, here], place[:, here] = remaining.crps(others, unseen), remaining.places(others, unseen, rng)
        miss[here] = remaining.miss(others, unseen)
    if write is not None:
        write.write_text(remaining.module(remaining.learn(data)), encoding="utf-8")
    rows: list[dict[str, object]] = []
    for number, milestone in enumerate(MILESTONES):
        for low, high in LOSSES:
            asked = (data.losses >= low) & (data.losses <= high)
            weight, found = data.weight[asked], place[number, asked]
            covered = {f"{q:.0%}": 100.0 * np.average(found <= q, weights=weight) for q in (0.1, 0.5, 0.9)}
            known = f"{low}" if low == high else f"{low}–{high}" if high < 1e9 else f"{low}+"
            crps = float(np.average(score[number, asked], weights=weight))
            rows.append({"to": f"{milestone:.0%}", "losses": known, "CRPS": crps, **covered})
    off = float(np.median(miss[(data.losses >= 4) & (data.away[:, 0] > 0.0)]))
    facts = {"states": len(data.left), "runs": len(set(data.run.tolist())), "median_log2_error": off, "unseen": rows}
    title = f"Algorithms left out: score, and % below a quantile; from 4 losses on 90 % is missed by 2^{off:.2f}"
    emit(output_format, facts, title, rows)


class Shown:
    """The runs whose forecasts are judged, at every position."""

    def __init__(self, runs: Sequence[dict[str, Any]]) -> None:
        self.runs = runs
        self.places = [(i, k) for i, run in enumerate(runs) for k in range(FIRST, len(run["losses"]))]
        self.algorithm = np.array([runs[i]["algorithm"] for i, _ in self.places])
        self._window = look_back(pack([runs[i]["losses"][:k] for i, k in self.places]))
        candidates = outline(self._window)
        way = way_ahead(np.array(AHEAD, dtype=np.float64)[:, None], self._window.points)
        self._ends = np.stack([candidates.ends(name, way) for name in NAMES])
        self._features = np.stack(list(features(candidates).values()), axis=1)

    def forecast(self, gate: Array) -> Array:
        """The forecasts of a gate; positions × horizons."""
        mixture = np.einsum("jc,chj->jh", shares(gate, self._features), self._ends)
        return np.asarray(self._window.newest[:, None] + self._window.spread[:, None] * mixture)

    def errors(self, predicted: Array) -> dict[str, dict[str, float]]:
        """Mean error by kind and horizon."""
        errors = run_errors(self.runs, self.places, predicted)
        kinds = np.array([run["kind"] for run in self.runs])
        table: dict[str, dict[str, float]] = {}
        for kind in sorted(set(kinds)):
            for ahead, column in zip(AHEAD, errors[kinds == kind].T, strict=True):
                if np.isfinite(column).any():
                    table.setdefault(str(kind), {})[str(ahead)] = float(np.nanmean(column))
        return table


def _cross_validated(runs: Sequence[dict[str, Any]], data: Examples, shown: Shown) -> Array:
    algorithm = np.array([run["algorithm"] for run in runs])[data.run]
    predicted = np.empty((len(shown.places), len(AHEAD)))
    console = Console(stderr=True)
    for name in track(sorted(set(shown.algorithm)), description="leaving one out", console=console, transient=True):
        here = shown.algorithm == name
        predicted[here] = shown.forecast(learn(data.where(algorithm != name), starts=1))[here]
    return predicted


def _module(gate: Array) -> str:
    lines = [f'    "{name}": ({", ".join(f"{x:.3f}" for x in row)}),' for name, row in zip(GATE, gate, strict=True)]
    return "\n".join(
        [
            '"""The numbers of the gate, as `slaq bench learn` found them; not to be edited by hand."""',
            "",
            "GATE: dict[str, tuple[float, ...]] = {",
            *lines,
            "}",
            '"""For each feature, its weight in the score of every candidate."""',
            "",
        ]
    )

"""How the results of a simulation are shown to people."""

from collections.abc import Mapping, Sequence
from typing import Any

import click
from rich.table import Table

from slaq.cli._output import console
from slaq.sim.metrics import MEASURES

_TITLES = {
    "avg_loss": "average loss",
    "sum_loss": "summed loss",
    "t90_s": "to 90 %, s",
    "t95_s": "to 95 %, s",
    "t99_s": "to 99 %, s",
    "completion_s": "completion, s",
}


def show(configuration: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> None:
    """Two tables: the measures against `fair`, and the rest."""
    out = console()
    cap = configuration["cap"]
    click.echo(
        f"{configuration['jobs']} jobs, {configuration['cores']} cores, a job every {configuration['gap_s']:g} s, "
        f"epoch {configuration['epoch_s']:g} s, {'no cap' if cap is None else f'at most {cap:g} cores a job'}, "
        f"{len(configuration['seeds'])} seeds, predictor {configuration['predictor']}; ± is the 95 % interval"
    )
    out.print(_against_fair(results))
    out.print(_details(results))


def _against_fair(results: Sequence[Mapping[str, Any]]) -> Table:
    table = Table("policy", *(_TITLES[measure] for measure in MEASURES))
    for facts in results:
        cells = []
        for measure in MEASURES:
            value, ratio, interval = facts[measure], facts[f"{measure}_ratio"], facts[f"{measure}_ratio_ci"]
            change = "" if ratio is None else f"  {100 * (ratio - 1):+.0f}%"
            cells.append(f"{_number(value)}{change}" + ("" if interval is None else f" ±{100 * interval:.0f}"))
        table.add_row(_title(facts), *cells)
    return table


def _details(results: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(
        "policy",
        "p95 to 90 %, s",
        "p95 completion, s",
        "worst job vs fair: to 90 %",
        "completion",
        "cores by loss: high/mid/low",
        "active jobs",
        "prediction error",
        "unfinished",
    )
    for facts in results:
        error = facts["prediction_error"]
        table.add_row(
            _title(facts),
            _number(facts["t90_p95_s"]),
            _number(facts["completion_p95_s"]),
            f"×{_number(facts['worst_t90_slowdown'])}",
            f"×{_number(facts['worst_completion_slowdown'])}",
            " / ".join("-" if share is None else f"{100 * share:.0f}%" for share in facts["group_cores"]),
            _number(facts["active"]),
            "-" if error is None else f"{100 * error:.2g}%",
            str(facts["unfinished"]),
        )
    return table


def _title(facts: Mapping[str, Any]) -> str:
    """The policy, and the tuning it ran with where that is not the default."""
    return " ".join([facts["policy"], *(f"{name}={value:g}" for name, value in facts.get("tuning", {}).items())])


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"

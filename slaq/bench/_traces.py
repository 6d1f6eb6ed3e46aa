"""Recorded training runs as the benchmarks read them."""

import json
import math
from pathlib import Path
from typing import Any

from slaq.data import recorded_curves
from slaq.errors import SlaqError


def read_runs(traces: Path | None) -> list[dict[str, Any]]:
    """The runs of a trace file (a JSON array), or the recorded ones that ship with the package."""
    if traces is None:
        return recorded_curves()
    try:
        runs = json.loads(traces.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SlaqError(f"Cannot read {traces}: {error}; give a JSON array of runs.") from error
    if not isinstance(runs, list) or not runs:
        raise SlaqError(f"{traces} holds no runs; give a JSON array of objects with algorithm, kind and losses.")
    for number, run in enumerate(runs):
        _check(run, f"{traces}, run {number}")
    return runs


def _check(run: object, where: str) -> None:
    if not isinstance(run, dict) or not {"algorithm", "kind", "losses"} <= run.keys():
        raise SlaqError(f"{where} needs the keys algorithm, kind and losses.")
    losses = run["losses"]
    if not isinstance(losses, list) or not all(isinstance(x, int | float) and math.isfinite(x) for x in losses):
        raise SlaqError(f"{where}: losses must be a list of finite numbers.")

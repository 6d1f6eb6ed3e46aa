"""Data that ships with the package: loss curves recorded from real MLlib training runs."""

import json
from importlib import resources
from typing import Any


def recorded_curves() -> list[dict[str, Any]]:
    """The recorded runs: algorithm, optimizer, dataset, params, losses, seconds_per_iteration, kind."""
    return _read("mllib-traces.json")


def recorded_fits() -> list[dict[str, Any]]:
    """Fits of `ml` estimators on public data sets, as the probe saw them: estimator and params too, and
    `max_iterations`, the iterations after the first loss that the fit was allowed to make."""
    return _read("recorded-fits.json")


def generated_curves() -> list[dict[str, Any]]:
    """Runs and formulas made to learn the forecaster's gate from."""
    return _read("generated-curves.json")


def _read(name: str) -> list[dict[str, Any]]:
    text = resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
    runs: list[dict[str, Any]] = json.loads(text)
    return runs

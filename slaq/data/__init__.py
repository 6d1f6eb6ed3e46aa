"""Data that ships with the package: loss curves recorded from real MLlib training runs."""

import json
from importlib import resources
from typing import Any


def recorded_curves() -> list[dict[str, Any]]:
    """The recorded runs: algorithm, optimizer, dataset, params, losses, seconds_per_iteration, kind."""
    text = resources.files(__name__).joinpath("mllib-traces.json").read_text(encoding="utf-8")
    runs: list[dict[str, Any]] = json.loads(text)
    return runs

"""`slaq simulate --paper`: the evaluations of papers, found by name."""

from collections.abc import Callable
from typing import Any

from slaq.cli import _paper_fitgpp, _paper_oasis

PAPERS: dict[str, Callable[[tuple[str, ...], int, int, int, str], Any]] = {
    "fitgpp": _paper_fitgpp.show,
    "oasis": _paper_oasis.show,
}
"""show(settings of --set, seeds, first seed, processes, output format)."""

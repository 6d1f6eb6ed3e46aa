"""Prediction: loss curves of all jobs in one batch, the runtime of an iteration, and both together.

A predictor is a function `(jobs, epoch_s, tuning) -> outlook`, found by name. To add one, write a forecast or distances
of its own for `look_ahead`, and a line in `_BUILT_IN`. A package of one's own registers such a function under the entry
point group `slaq.predictors`.
"""

from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import entry_points

from slaq.errors import SlaqError
from slaq.model import Job, Tuning
from slaq.predict.forecast import forecast
from slaq.predict.outlook import CurveOutlook, look_ahead
from slaq.predict.standing import standing, standings
from slaq.predict.weighted_fit import look_ahead_by_fits

ENTRY_POINTS = "slaq.predictors"

Predictor = Callable[[Sequence[Job], float, Tuning], CurveOutlook]
"""predictor(jobs, epoch_s, tuning): the outlook of the jobs for the coming epoch."""

LEARNED = "learned"
"""The default."""

_BUILT_IN: dict[str, Predictor] = {LEARNED: look_ahead, "weighted-fit": look_ahead_by_fits}


def get(name: str) -> Predictor:
    """The predictor of that name."""
    found = _BUILT_IN.get(name) or _installed().get(name)
    if found is None:
        raise SlaqError(f"unknown predictor {name!r}; choose one of {', '.join(names())}")
    return found


def names() -> list[str]:
    """The names `get` knows."""
    return sorted({*_BUILT_IN, *_installed()})


@cache
def _installed() -> dict[str, Predictor]:
    """The predictors of other packages; a name of ours stays ours."""
    found = {}
    for entry in entry_points(group=ENTRY_POINTS):
        try:
            predictor = entry.load()
        except Exception as error:
            raise SlaqError(f"predictor {entry.name!r} ({entry.value}) cannot be loaded: {error}") from error
        if not callable(predictor):
            raise SlaqError(
                f"predictor {entry.name!r} ({entry.value}) is no function (jobs, epoch_s, tuning) -> outlook"
            )
        found[entry.name] = predictor
    return found


__all__ = ["LEARNED", "Predictor", "forecast", "get", "look_ahead", "names", "standing", "standings"]

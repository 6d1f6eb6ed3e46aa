"""Who is compared: the registered policies, the same ones with perfect foresight, and baselines."""

from dataclasses import dataclass

from slaq import policy
from slaq.errors import SlaqError
from slaq.sim import predictors
from slaq.sim.predictors import MakePredictor

PREDICTORS: dict[str, MakePredictor] = {
    "slaq": predictors.slaq,
    "oracle": predictors.oracle,
    "noise": predictors.noise,
    "zero": predictors.zero,
}

_BASELINES: dict[str, MakePredictor] = {
    "least-attained": predictors.least_attained_service,
    "shortest-remaining": predictors.shortest_remaining_time(1.0),
    "shortest-to-90": predictors.shortest_remaining_time(0.9),
    "oracle-greedy": predictors.literal_oracle,
}


@dataclass(frozen=True, slots=True)
class Contender:
    """A policy of the registry and the predictor it is asked with."""

    name: str
    policy: str
    predictor: MakePredictor


def contender(name: str, predictor: str = "slaq") -> Contender:
    """By name: a registered policy, `oracle-` before one for perfect foresight, or a baseline."""
    if name in _BASELINES:
        return Contender(name, "max-total", _BASELINES[name])
    if name in policy.names():
        return Contender(name, name, PREDICTORS[predictor])
    plain = name.removeprefix("oracle-")
    if plain != name and plain in policy.names():
        return Contender(name, plain, predictors.oracle)
    raise SlaqError(f"unknown policy {name!r}; choose among {', '.join(contender_names())}")


def contender_names() -> list[str]:
    """All names `contender` knows."""
    foresight = [f"oracle-{name}" for name in policy.names() if name not in ("fair", "fifo")]
    return [*policy.names(), *_BASELINES, *foresight]

"""What is compared: the registered policies, and the same ones with perfect foresight."""

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

ORACLE = "oracle-"
GREEDY = f"{ORACLE}greedy"
"""The paper's Algorithm 1 with perfect foresight of the coming epoch, and of nothing beyond it."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A registered policy and the predictor it is asked with."""

    name: str
    policy: str
    predictor: MakePredictor


def contender(name: str, predictor: str = "slaq") -> Contender:
    """By name: a registered policy, or one with `oracle-` in front for perfect foresight."""
    if name == GREEDY:
        return Contender(name, "max-total", predictors.literal_oracle)
    if name in policy.names():
        return Contender(name, name, PREDICTORS[predictor])
    plain = name.removeprefix(ORACLE)
    if plain != name and plain in policy.names():
        return Contender(name, plain, predictors.oracle)
    raise SlaqError(f"unknown policy {name!r}; choose among {', '.join(contender_names())}")


def contender_names() -> list[str]:
    """All names `contender` knows."""
    return [*policy.names(), *(ORACLE + name for name in policy.names()), GREEDY]

"""What is compared: the registered policies, each with a predictor, and the same ones with perfect foresight."""

from dataclasses import dataclass

from slaq import policy
from slaq.errors import SlaqError
from slaq.predict import LEARNED
from slaq.sim.predictors import predictor_names

ORACLE = "oracle-"
GREEDY = f"{ORACLE}greedy"
"""The paper's Algorithm 1 with perfect foresight of the coming epoch, and of nothing beyond it."""

PUBLISHED = "max-total:weighted-fit"
"""SLAQ as its paper describes it: the largest total gain, by the paper's own fits."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A registered policy and the predictor it is asked with."""

    name: str
    policy: str
    predictor: str


def contender(name: str, predictor: str = LEARNED) -> Contender:
    """By name: a policy, POLICY:PREDICTOR with a predictor of its own, or oracle-POLICY with perfect foresight."""
    if name == GREEDY:
        return Contender(name, "max-total", "literal-oracle")
    plain, colon, asked = name.partition(":")
    if plain.startswith(ORACLE) and not colon:
        plain, predictor = plain.removeprefix(ORACLE), "oracle"
    if plain not in policy.names():
        raise SlaqError(f"unknown policy {name!r}; choose among {', '.join(contender_names())}")
    chosen = asked if colon else predictor
    if chosen not in predictor_names():
        raise SlaqError(f"unknown predictor {chosen!r}; choose one of {', '.join(predictor_names())}")
    return Contender(name, plain, chosen)


def contender_names() -> list[str]:
    """All names `contender` knows, but for those that name a predictor too."""
    return [*policy.names(), *(ORACLE + name for name in policy.names()), GREEDY]

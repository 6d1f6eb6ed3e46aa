"""What must hold after every run, one file for each family; every check returns what contradicts it."""

from collections.abc import Callable

from slaq.bench._chaos.checks import (
    capacity,
    decisions,
    finished,
    flat,
    history,
    orderly,
    replay,
    reports,
    waiting,
)
from slaq.bench._chaos.evidence import Evidence

CHECKS: dict[str, Callable[[Evidence], list[str]]] = {
    "jobs finish with their models": finished.check,
    "nobody waits for the dead": waiting.check,
    "reports count once": reports.check,
    "cores held fit the capacity": capacity.check,
    "history is complete": history.check,
    "decisions come on time": decisions.check,
    "decision logs replay": replay.check,
    "resources stay flat": flat.check,
    "processes behave": orderly.check,
}


def violations(evidence: Evidence) -> list[tuple[str, str]]:
    """(invariant, what contradicts it) of everything that was found."""
    return [(name, sentence) for name, check in CHECKS.items() for sentence in check(evidence)]

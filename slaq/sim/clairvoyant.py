"""The true value per work of a job: what `finish-line` estimates, of a job whose whole course is known."""

from functools import lru_cache

from slaq.model import Tuning
from slaq.sim.script import Script

SOONEST_CORE_S = 1e-6


@lru_cache(maxsize=1024)
def _milestones(script: Script) -> tuple[float, ...]:
    return script.milestones()


def density(script: Script, done_core_s: float, tuning: Tuning) -> float:
    """The largest value of milestones per core-second ahead, however far ahead one has to look (Sidney 1975)."""
    best = value = 0.0
    for at, worth in zip(_milestones(script), (tuning.worth_90, tuning.worth_95, tuning.worth_end), strict=True):
        if at > done_core_s + SOONEST_CORE_S:
            value += worth
            best = max(best, value / (at - done_core_s))
    return best

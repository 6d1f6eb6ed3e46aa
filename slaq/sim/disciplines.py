"""Who gets a free slot: one small function per discipline.

A rule sees the pools that wait for a slot. It answers with the pool whose next task starts and whether the task is
charged to that pool. It changes nothing.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from slaq.errors import SlaqError
from slaq.model import Tuning
from slaq.sim.clairvoyant import density
from slaq.sim.pool import Pool

Choice = tuple[Pool, bool]
Rule = Callable[[Sequence[Pool]], Choice]
"""rule(waiting)"""


@dataclass(frozen=True, slots=True)
class Discipline:
    """A rule and the bounds of the tokens that it reads."""

    rule: Rule
    bounds: Callable[[float], tuple[float, float]] = lambda _: (-math.inf, math.inf)
    """bounds(granted): the least and the most core-seconds in a pool's bucket."""


def spark_fair(waiting: Sequence[Pool]) -> Choice:
    """Spark's FAIR with equal weights and no minimum share: fewest running tasks first, ties by the pool's name."""
    return min(waiting, key=lambda pool: (pool.running, pool.script.pool)), True


def spark_fifo(waiting: Sequence[Pool]) -> Choice:
    """Spark's FIFO: the stage that was submitted first."""
    return min(waiting, key=lambda pool: (pool.submitted_s, pool.place)), True


def by_density(tuning: Tuning) -> Rule:
    """The clairvoyant at task level: whoever's next milestones are truly worth most per core-second."""

    def rule(waiting: Sequence[Pool]) -> Choice:
        best = min(waiting, key=lambda pool: (-density(pool.script, pool.held_core_s, tuning), pool.place))
        return best, True

    return rule


LONGEST_DEBT_S = 10.0
"""As in the bridge: debt is forgiven beyond so many seconds of the grant, or of one task."""
BURST_S = 0.1
"""Of `Grant.burst_s`: seconds of unused grant that a pool may save up."""


def by_tokens(waiting: Sequence[Pool]) -> Choice:
    """The bridge's rule: pools that are owed a slot, then the others on loan, each in the scheduler's order.

    A pool is owed one while it has tokens and runs less than it was granted. Loans are not charged.
    """

    def key(pool: Pool) -> tuple[float, ...]:
        place = math.inf if pool.standby is None else pool.standby
        if pool.granted is None:
            return 0, -1.0, pool.running, pool.place
        if _owed(pool):
            return 0, place, -pool.tokens / pool.granted, pool.place
        return 1, place, pool.running > 0, pool.place

    best = min(waiting, key=key)
    return best, best.granted is None or _owed(best)


def _owed(pool: Pool) -> bool:
    return pool.granted is not None and pool.tokens > 0.0 and pool.running < pool.granted - 1e-6


def in_order(waiting: Sequence[Pool]) -> Choice:
    """The ideal that the bridge approaches: every free slot to the first in the order of the latest decision."""
    return min(waiting, key=lambda pool: (pool.rank, pool.place)), True


def tokens(burst_s: float = BURST_S) -> Discipline:
    """The bridge's rule with a burst of its own."""
    return Discipline(by_tokens, lambda granted: (-LONGEST_DEBT_S * max(granted, 1.0), granted * burst_s))


RULES: dict[str, Discipline] = {"tokens": tokens(), "order": Discipline(in_order)}
"""How pools follow the engine's decisions, by name."""


def named_rule(text: str) -> Discipline:
    """By its name, or `tokens:SECONDS` with a burst of its own."""
    name, colon, burst = text.partition(":")
    if not colon and name in RULES:
        return RULES[name]
    if name != "tokens" or not colon:
        raise SlaqError(f"unknown rule {text!r}; choose one of {', '.join(RULES)}, or tokens:SECONDS for another burst")
    try:
        return tokens(float(burst))
    except ValueError:
        raise SlaqError(f"rule {text!r}: {burst!r} is no number of seconds; give such as tokens:0.5") from None


SPARKS_OWN: dict[str, Discipline] = {"spark-fair": Discipline(spark_fair), "spark-fifo": Discipline(spark_fifo)}
"""What Spark does by itself."""

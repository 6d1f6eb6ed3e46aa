"""The rules of a race: after how many iterations candidates are compared, and who goes on.

All candidates are fitted for a few iterations and compared by the user's evaluator; the better ones are fitted for
more, and so on, until one is left. The survivors fall by the same factor at every rung (successive halving). The
others are frozen: one whose metric is better than what the leader comes to later is compared again.
Nothing here touches Spark.
"""

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from slaq.errors import SlaqError

FEWEST_ITERATIONS = 2
"""Iterations of the first rung at the least: after one, most optimizers have only taken a step of a fixed length."""


class Race(Struct, frozen=True):
    """How to race. `Race(rungs=(5,))` is the constant-iterations baseline: everybody gets 5, the best one wins."""

    rungs: tuple[int, ...] = ()
    """Iterations after which candidates are compared, rising; empty: `shares` of the largest maxIter in the grid."""
    shares: tuple[float, ...] = (1 / 9, 1 / 3)
    """Successive halving with its usual factor of 3 (Hyperband, Li et al. 2018), without the last, full rung: one
    candidate is left by then, and it is fitted in full on all data anyway."""


class Round(Struct, frozen=True):
    """What happened at one rung."""

    iterations: int
    metrics: dict[int, float]
    """The mean metric over the folds, by the candidate's place in the grid; NaN if its fit failed."""
    kept: tuple[int, ...]
    """The candidates that went on, best first."""
    thawed: tuple[int, ...] = ()
    """Candidates that had left and came back at this rung."""


def checked(racing: object) -> Race | None:
    """The rules that `racing` asks for; None: no race."""
    race = Race() if racing is True else None if racing in (False, None) else racing
    if race is not None and not isinstance(race, Race):
        raise SlaqError(f"racing is {racing!r:.80}; give True, False or a slaq.tuning.Race")
    if race is not None:
        whole = all(type(rung) is int and rung > 0 for rung in race.rungs)
        if not whole or list(race.rungs) != sorted(set(race.rungs)):
            raise SlaqError(f"rungs are {race.rungs!r:.80}; give whole numbers of iterations that rise, as (5, 15)")
        if not all(0 < share < 1 for share in race.shares):
            raise SlaqError(f"shares are {race.shares!r:.80}; give numbers between 0 and 1, as (0.1, 0.3)")
    return race


def rungs(race: Race, most: int) -> list[int]:
    """The iterations of every rung in a grid whose largest maxIter is `most`; none of them reaches it."""
    wanted = race.rungs or [max(FEWEST_ITERATIONS, math.ceil(share * most)) for share in race.shares]
    return [rung for rung in sorted(set(wanted)) if rung < most]


def survivors(candidates: int, rung: int, of: int) -> int:
    """How many of the candidates go on after rung number `rung` (from 0) of `of`; one after the last."""
    left: float = candidates ** (1 - (rung + 1) / of)
    return max(1, math.ceil(left - 1e-9))


def best(metrics: Mapping[int, float], count: int, larger_is_better: bool) -> tuple[int, ...]:
    """The best candidates, best first; equal ones in the order of the grid, NaN never."""
    valid = [(-value if larger_is_better else value, place) for place, value in metrics.items() if value == value]
    return tuple(place for _, place in sorted(valid)[:count])


def thawed(frozen: Mapping[int, float], now: Mapping[int, float], larger_is_better: bool) -> tuple[int, ...]:
    """The frozen candidates whose metric beats the best of this rung, best first; all of them if no other is left.

    With more iterations the leader got worse, or failed.
    """
    leader = best(now, 1, larger_is_better)
    limit = now[leader[0]] if leader else math.inf if not larger_is_better else -math.inf
    better = {p: value for p, value in frozen.items() if (value > limit if larger_is_better else value < limit)}
    return best(better, len(better), larger_is_better)


def hopeless(own: float, others: Sequence[float], keep: float, larger_is_better: bool) -> bool:
    """Whether a value is not among the best `keep` of all that reached the same step, itself included."""
    if own != own:
        return True
    better = sum((other > own) if larger_is_better else (other < own) for other in others)
    return better >= max(1, math.ceil(keep * (len(others) + 1)))

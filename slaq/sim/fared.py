"""How recorded jobs fared, in the recording or in a replay, by the whole loss reduction that was recorded."""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from statistics import fmean

from slaq.sim.courses import Course


class Fared:
    """How a counted job fared: when it told which loss, lowest so far, as shares of its whole reduction."""

    def __init__(self, course: Course, told: Sequence[tuple[float, float]], ended_s: float | None) -> None:
        first, lowest = course.told[0][1], min(loss for _, loss in course.told)
        self.began_s = course.joined_s or 0.0
        self.ended_s = ended_s
        self.over_s = math.inf
        """When it had ended in every row that it is compared in: until then its quality counts."""
        self.reached: list[tuple[float, float]] = []
        best = 0.0
        for at_s, loss in told:
            best = max(best, (first - loss) / (first - lowest) if first > lowest else 1.0)
            self.reached.append((at_s, best))

    def quality(self, at_s: float) -> float | None:
        """The share that it had reached by then; None while it does not count."""
        if not self.began_s <= at_s <= self.over_s:
            return None
        told = bisect_right(self.reached, (at_s, 1.0))
        return self.reached[told - 1][1] if told else 0.0

    def took_s(self, share: float | None) -> float | None:
        """Seconds from its begin to this share, or to its end; None: not by the end of the time."""
        if share is None:
            return None if self.ended_s is None else self.ended_s - self.began_s
        # The last loss may miss its own goal by a rounding error.
        return next((at_s - self.began_s for at_s, reached in self.reached if reached >= share - 1e-12), None)


def compared(rows: Sequence[Sequence[Fared]]) -> None:
    """Let the same jobs count at every moment in all rows: each until it has ended in all of them."""
    for same in zip(*rows, strict=True):
        over_s = max(math.inf if one.ended_s is None else one.ended_s for one in same)
        for one in same:
            one.over_s = over_s


def marks(rows: Sequence[Sequence[Fared]], share: float | None) -> list[float | None]:
    """For each row the mean time to a mark, over the jobs that reached it in every row."""
    times = list(zip(*([one.took_s(share) for one in row] for row in rows), strict=True))
    everywhere = [each for each in times if None not in each]
    return [mean([each[place] for each in everywhere]) for place in range(len(rows))]


def quality(row: Sequence[Fared], at_s: float) -> float | None:
    return mean([one.quality(at_s) for one in row])


def mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None

"""What a job asks of the future, and the plan that answers it."""

from dataclasses import dataclass, field

import numpy as np

from slaq.model import FloatArray, IntArray

NOTHING: IntArray = np.zeros((0, 3), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Side:
    """The parameter servers of a job, which its workers need beside them."""

    demand: FloatArray
    """Of one parameter server, by resource."""
    each: float
    """Parameter servers per worker, b/B: their bandwidth has to match that of the workers."""

    def count(self, workers: IntArray) -> IntArray:
        """How many so many workers need: never more than there are workers."""
        needed: IntArray = np.minimum(np.ceil(workers * self.each - 1e-9).astype(np.int64), workers)
        return needed


@dataclass(frozen=True, slots=True)
class Request:
    """A job: so many worker-slots, at most `width` in a slot, and what an end in each slot is worth."""

    work: int
    """Worker-slots (W), at least 1."""
    width: int
    """Workers it can use at once (N)."""
    demand: FloatArray
    """Of one worker, by resource."""
    value: FloatArray
    """value[k]: what it is worth if its last slot is k after `start`; never rising."""
    start: int = 0
    """The first slot that it may use."""
    side: Side | None = None

    @property
    def shortest(self) -> int:
        """Slots it takes with all the workers it can use."""
        return -(-self.work // self.width)


@dataclass(frozen=True, slots=True)
class Plan:
    """Workers by slot and server, what they cost and what is left of the job's value."""

    finish: int
    """Its last slot."""
    value: float
    cost: float
    workers: IntArray
    """Rows of slot, server, count."""
    side: IntArray = field(default_factory=lambda: NOTHING)
    """The same of parameter servers."""

    @property
    def payoff(self) -> float:
        """What is left of the value; a job is admitted if it is positive."""
        return self.value - self.cost

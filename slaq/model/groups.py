"""Groups: jobs of one user that belong together count as one job towards everybody else."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from slaq.model.job import Job

ALONE = -1
"""The group of a job that belongs to none."""


class Groups:
    """Which jobs belong together, and what part of one job each is."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        keys = [(job.user, job.group) if job.group else None for job in jobs]
        sizes = Counter(key for key in keys if key is not None)
        several = [key for key, size in sizes.items() if size > 1]
        numbers: dict[tuple[str, str] | None, int] = {key: number for number, key in enumerate(several)}
        self.of: NDArray[np.int64] = np.fromiter((numbers.get(key, ALONE) for key in keys), np.int64, len(keys))
        """The number of each job's group, or ALONE; the only job of a group is alone."""
        self.count = len(numbers)
        self.part: NDArray[np.float64] = np.array([1.0 if key is None else 1.0 / sizes[key] for key in keys])
        """What part of one job each is: the jobs of a group are one job together."""

    @property
    def alone(self) -> NDArray[np.bool_]:
        """Which jobs belong to no other."""
        return np.asarray(self.of == ALONE)

    def total(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """For every job the sum over its group; its own value if it is alone."""
        return self._over_group(np.add, values)

    def most(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """For every job the largest value in its group."""
        return self._over_group(np.maximum, values)

    def _over_group(self, reduce: np.ufunc, values: NDArray[np.float64]) -> NDArray[np.float64]:
        grouped, found = ~self.alone, np.zeros(self.count)
        reduce.at(found, self.of[grouped], values[grouped])
        return np.where(grouped, found[self.of] if self.count else values, values)

"""Everything a policy may look at: the active jobs, the cores, and the outlook for each job."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from slaq.errors import SlaqError
from slaq.model.job import Job, checked

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


class Outlook(Protocol):
    """What more cores would buy each job in the coming epoch.

    All methods but `until` take two arrays of equal length, a job's position in the snapshot and a number
    of cores, and answer for each pair. Answers are finite; jobs without a loss answer 0.
    """

    def reduction(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """The loss reduction of the coming epoch, in units of the job's largest change so far (SLAQ §4.1)."""

    def loss(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """The loss at the end of the epoch: 1 at the job's first report, 0 where the job is expected to end."""

    def ahead(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """The iterations, and parts of one, that the coming epoch brings; they never fall with more cores."""

    def until(self, share: float) -> FloatArray:
        """For every job of the snapshot, the iterations until it has this share of its whole loss reduction.

        0 for a job that has it already; with a share of 1, the iterations until the job's expected end.
        """


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The active jobs in order of arrival, the cores to share out, and the outlook for each job."""

    jobs: tuple[Job, ...]
    cores: int
    outlook: Outlook

    def column(self, value: Callable[[Job], float]) -> FloatArray:
        """One number per job, as an array."""
        return np.array([value(job) for job in self.jobs], dtype=np.float64)


def snapshot(jobs: Sequence[Job], cores: int, outlook: Outlook) -> Snapshot:
    """A snapshot from untrusted parts: every job and the number of cores are checked."""
    if isinstance(cores, bool) or not math.isfinite(cores) or cores < 0 or cores != int(cores):
        raise SlaqError(f"cores is {cores!r}; give a whole number, 0 or more")
    ids = [checked(job).id for job in jobs]
    if len(set(ids)) < len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        raise SlaqError(f"job {twice!r} is there twice; give every job its own id")
    return Snapshot(tuple(jobs), int(cores), outlook)

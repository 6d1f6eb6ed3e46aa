"""Everything a policy may look at: the jobs to decide for, the cores, the time, and the outlook for each job."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from slaq.errors import SlaqError
from slaq.model.groups import Groups
from slaq.model.job import Job, validated
from slaq.model.tuning import DEFAULTS, Tuning

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


def column(records: Sequence[object], name: str) -> FloatArray:
    """One attribute of all records as an array; None becomes NaN."""
    values = map(attrgetter(name), records)
    try:
        return np.fromiter(values, dtype=np.float64, count=len(records))
    except TypeError:  # some are None
        return np.array([getattr(record, name) for record in records], dtype=np.float64)


class Outlook(Protocol):
    """What more cores would buy each job in the coming epoch.

    `reduction`, `loss` and `ahead` take two arrays, jobs by their positions in the snapshot and numbers of cores, and
    answer for each pair; the arrays are of the same shape, or a column of jobs with a row of cores for each. `reached`
    and `until` answer for every job of the snapshot. Answers are finite; jobs without a loss answer 0.
    """

    def reduction(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """The loss reduction of the coming epoch, in units of the job's largest change so far (SLAQ §4.1)."""

    def loss(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """The loss at the end of the epoch: 1 at the job's first report, 0 where the job is expected to end."""

    def ahead(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """The iterations, and parts of one, that the coming epoch brings; they never fall with more cores."""

    def worked(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """The core-seconds of work that the coming epoch brings: the driver's pauses use none."""

    def reached(self) -> FloatArray:
        """The share of its whole expected loss reduction, from the first loss to the expected end, that a job has."""

    def until(self, share: float) -> FloatArray:
        """The iterations until a job has `reached` this share; 0 if it has.

        With a share of 1, the iterations until the job's expected end.
        """

    def work_ahead(self, share: float) -> tuple[FloatArray, FloatArray]:
        """The chance that a job has not `reached` this share, and the core-seconds of work until then if it has not,
        preparation included."""


@dataclass(frozen=True)
class Snapshot:
    """The jobs to decide for in order of arrival, the cores to share out, and the outlook for each job.

    What a policy may want to know of a job's past is in the job: when it arrived, what it has attained, whose it is and
    to which group it belongs.
    """

    jobs: tuple[Job, ...]
    cores: float
    """Whole, but for the cores of one user (see `slaq.engine.between_users`)."""
    outlook: Outlook
    now_s: float = 0.0
    epoch_s: float = 1.0
    """Until the next decision."""
    tuning: Tuning = DEFAULTS

    @cached_property
    def groups(self) -> Groups:
        """Which jobs belong together."""
        return Groups(self.jobs)

    def column(self, name: str) -> FloatArray:
        """One number of every job, by the name of its attribute."""
        return column(self.jobs, name)


def snapshot(jobs: Sequence[Job], cores: int, outlook: Outlook) -> Snapshot:
    """A snapshot from untrusted parts: every job and the number of cores are checked."""
    if isinstance(cores, bool) or not math.isfinite(cores) or cores < 0 or cores != int(cores):
        raise SlaqError(f"cores is {cores!r}; give a whole number, 0 or more")
    ids = [validated(job).id for job in jobs]
    if len(set(ids)) < len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        raise SlaqError(f"job {twice!r} is there twice; give every job its own id")
    return Snapshot(tuple(jobs), int(cores), outlook)

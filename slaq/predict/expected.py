"""The expectations of all jobs as arrays: what past fits took, and how far it counts beside what is known by now."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slaq.model import FloatArray, Job
from slaq.model.expectation import NUMBERS
from slaq.model.snapshot import column
from slaq.predict.series import Matrix


@dataclass(frozen=True, slots=True)
class Expectations:
    """The numbers of `Expected`, one entry per job."""

    ready_core_s: FloatArray
    ready_sure: FloatArray
    work_core_s: FloatArray
    serial_s: FloatArray
    work_sure: FloatArray
    at_90: FloatArray
    at_95: FloatArray
    at_end: FloatArray
    length_sure: FloatArray

    def away(self, made: FloatArray, step: FloatArray, left: FloatArray) -> Matrix:
        """Steps of so many iterations to each milestone, after so many iterations; milestones × jobs."""
        at = np.stack((self.at_90, self.at_95, self.at_end))
        return np.asarray(np.clip(np.ceil((at - made) / step - 1e-9), 0.0, left))


def expectations(jobs: Sequence[Job]) -> Expectations:
    """Those of all jobs."""
    packed = np.frombuffer(b"".join([job.expected.packed for job in jobs])).reshape(-1, len(NUMBERS))
    return Expectations(*packed.T)


def between(one: FloatArray, other: FloatArray, share: FloatArray) -> FloatArray:
    """What lies this share of the way from one to the other on a logarithmic scale, which has no 0."""
    known = (share > 0.0) & (one > 0.0) & (other > 0.0)
    ratio = np.where(known, other, 1.0) / np.where(known, one, 1.0)
    return np.where(known, one * ratio ** np.where(known, share, 0.0), np.where(share > 0.5, other, one))


def made(jobs: Sequence[Job]) -> FloatArray:
    """The number of every job's latest iteration; 0 before there is one."""
    return np.maximum(column([job.history for job in jobs], "latest_iteration"), 0.0)

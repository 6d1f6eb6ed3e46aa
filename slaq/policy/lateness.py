"""Nobody ends much later than under `fair`: what fair sharing would have given each job, and what follows from it.

A job that has had, at any age, what its fair shares had given it by a tenth of that age ends by ten times the age at
which `fair` would have ended it. The integral of its fair share is remembered at ages that grow geometrically, a few
numbers for each job. Shares may have risen since, so a tenth of today's share for its whole age is due in any case.
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from slaq.model import FloatArray, Job, Snapshot

MARKS = 16
"""Ages remembered of each job; with GROWTH they reach back to less than a tenth of its age."""
GROWTH = 1.2
"""From one remembered age to the next."""

_Curves = NDArray[np.float64]
"""jobs × MARKS × (age in seconds, core-seconds of fair shares by then); rising, the last one being now."""


class Served(Struct, frozen=True):
    """What fair shares would have given the jobs of the latest decision."""

    at_s: float = 0.0
    jobs: tuple[str, ...] = ()
    shares: bytes = b""
    """Everyone's fair share since then."""
    curves: bytes = b""


def overdue(memory: Served, snapshot: Snapshot, share: FloatArray) -> tuple[FloatArray, Served]:
    """The cores that each job is due so that it does not end too late, and the next memory.

    `share`: everyone's fair share now.
    """
    tuning, now_s = snapshot.tuning, snapshot.now_s
    age_s = np.maximum(now_s - snapshot.column("arrived_s"), 0.0)
    curves, before = _recalled(memory, snapshot.jobs)
    _extend(curves, age_s, before * max(now_s - memory.at_s, 0.0))
    by_s = np.minimum(age_s + tuning.late_ahead * snapshot.epoch_s, 2.0 * age_s) / tuning.latest
    owed = np.maximum(_served_by(curves, by_s), share * by_s) - snapshot.column("attained_core_s")
    cores = np.clip(owed / snapshot.epoch_s, 0.0, np.minimum(snapshot.column("max_cores"), float(snapshot.cores)))
    return cores, Served(now_s, tuple(job.id for job in snapshot.jobs), share.tobytes(), curves.tobytes())


def _recalled(memory: Served, jobs: Sequence[Job]) -> tuple[_Curves, FloatArray]:
    """The curves and the shares of these jobs; zeros for one that is new."""
    place = {name: at for at, name in enumerate(memory.jobs)}
    at = np.array([place.get(job.id, -1) for job in jobs], dtype=np.int64)
    old, known = at[at >= 0], at >= 0
    curves, shares = np.zeros((len(jobs), MARKS, 2)), np.zeros(len(jobs))
    curves[known] = np.frombuffer(memory.curves).reshape(-1, MARKS, 2)[old]
    shares[known] = np.frombuffer(memory.shares)[old]
    return curves, shares


def _extend(curves: _Curves, age_s: FloatArray, given_core_s: FloatArray) -> None:
    """Every curve goes on to today; what was today becomes a mark where it is far enough from the latest mark."""
    mark = curves[:, -1, 0] >= np.maximum(GROWTH * curves[:, -2, 0], 1e-9)
    curves[mark, :-1] = curves[mark, 1:]
    curves[:, -1, 0] = age_s
    curves[:, -1, 1] += given_core_s


def _served_by(curves: _Curves, age_s: FloatArray) -> FloatArray:
    """Core-seconds of fair shares by that age, on straight lines between the marks."""
    ages, given = curves[:, :, 0], curves[:, :, 1]
    rows = np.arange(len(curves))
    after = np.minimum(np.count_nonzero(ages <= age_s[:, None], axis=1), MARKS - 1)
    before = np.maximum(after - 1, 0)
    run = ages[rows, after] - ages[rows, before]
    part = np.clip((age_s - ages[rows, before]) / np.where(run > 0.0, run, 1.0), 0.0, 1.0)
    served: FloatArray = given[rows, before] + part * (given[rows, after] - given[rows, before])
    return served

"""finish-line: every job to the quality that counts, and to its end, as early as can be on average.

`max-total` gives cores to whoever's loss falls fastest. That leaves a job that has little to gain at the floor until
newer ones have caught up with it: all of them creep along together and end late. Here a job runs towards milestones:
shares of its whole loss reduction, and its end. Cores go to whoever collects most per core, looking as far ahead as
it takes: a job that is close to a milestone outruns one that has just begun, and makes room.

Who started a group waits for the last of its jobs. So a group has one milestone, its end, worth as much as all those of
a job, and every member's work brings it equally near; of its members those with the most work left go first, so that
none is left to run alone in the end.
"""

import numpy as np

from slaq.model import Decision, FloatArray, Groups, IntArray, Snapshot, Tuning
from slaq.policy.base import core_by_core, fair_shares
from slaq.policy.climb import Value, marginal
from slaq.policy.lateness import Served, overdue
from slaq.policy.milestones import SOONEST, Milestones

SHARES = (0.9, 0.95, 1.0)
"""The milestones, as shares of a job's whole loss reduction; the last is its end."""

LONGEST_FIRST = 1e-3
"""By this share the value of a group's longest job is above that of the shortest: enough to settle a tie."""


def allocate(snapshot: Snapshot, memory: Served) -> tuple[Decision, Served]:
    """The rest goes out core by core to whoever it brings the most value of milestones."""
    late, memory = overdue(memory, snapshot, fair_shares(snapshot).share)
    return core_by_core("finish-line", "milestone", snapshot, worth(snapshot), late), memory


def worth(snapshot: Snapshot) -> Value:
    """What the next core is worth to jobs, by their positions in the snapshot."""
    outlook = snapshot.outlook
    chances, works = zip(*(outlook.work_ahead(share) for share in SHARES), strict=True)
    values = np.array([value * chance for value, chance in zip(_values(snapshot.tuning), chances, strict=True)])
    milestones = Milestones(works, _grouped(values, works[-1], snapshot.groups, sum(_values(snapshot.tuning))))

    def collected(job: IntArray, cores: FloatArray) -> FloatArray:
        return milestones.value(job, outlook.worked(job, cores))

    return marginal(collected)


def _values(tuning: Tuning) -> list[float]:
    """What reaching each milestone is worth."""
    return [tuning.worth_90, tuning.worth_95, tuning.worth_end]


def _grouped(values: FloatArray, work_core_s: FloatArray, groups: Groups, worth: float) -> FloatArray:
    """The values of jobs in groups: nothing but their part of the group's end, by the work that it takes."""
    if not groups.count:
        return values
    work_core_s = np.maximum(work_core_s, SOONEST)
    # Weights count a member as a part of one job; here the group's work says how much of one it is.
    end = worth * work_core_s / groups.total(work_core_s) / groups.part
    end *= 1.0 + LONGEST_FIRST * work_core_s / groups.most(work_core_s)
    alone = groups.alone
    return np.vstack([np.where(alone, values[:-1], 0.0), np.where(alone, values[-1], end)])

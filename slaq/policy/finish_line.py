"""finish-line: every job to the quality that counts, and to its end, as early as can be on average.

`max-total` gives cores to whoever's loss falls fastest. That leaves a job that has little to gain at the floor until
newer ones have caught up with it: all of them creep along together and end late. Here a job runs towards milestones:
shares of its whole loss reduction, and its end. Cores go to whoever collects most per core, looking as far ahead as
it takes: a job that is close to a milestone outruns one that has just begun, and makes room.
"""

from slaq.model import Decision, FloatArray, IntArray, Snapshot, Tuning
from slaq.policy.base import core_by_core
from slaq.policy.climb import marginal
from slaq.policy.milestones import Milestones

SHARES = (0.9, 0.95, 1.0)
"""The milestones, as shares of a job's whole loss reduction; the last is its end."""


def allocate(snapshot: Snapshot) -> Decision:
    """The rest goes out core by core to whoever it brings the most value of milestones."""
    outlook = snapshot.outlook
    milestones = Milestones([outlook.work_until(share) for share in SHARES], _values(snapshot.tuning))

    def collected(job: IntArray, cores: FloatArray) -> FloatArray:
        return milestones.value(job, outlook.worked(job, cores))

    return core_by_core("finish-line", "milestone", snapshot, marginal(collected), bounded=True)


def _values(tuning: Tuning) -> list[float]:
    """What reaching each milestone is worth."""
    return [tuning.worth_90, tuning.worth_95, tuning.worth_end]

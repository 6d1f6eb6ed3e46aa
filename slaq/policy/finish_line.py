"""finish-line: every job to the quality that counts, and to its end, as early as can be on average.

`max-total` gives cores to whoever's loss falls fastest. That leaves a job that has little to gain at the floor until
newer ones have caught up with it: all of them creep along together and end late. Here a job runs towards milestones:
shares of its whole loss reduction, and its end. Cores go to whoever collects most per core, looking as far ahead as
it takes: a job that is close to a milestone outruns one that has just begun, and makes room.
"""

from itertools import pairwise

from slaq.model import Decision, FloatArray, IntArray, Snapshot
from slaq.policy.base import core_by_core
from slaq.policy.milestones import Milestones

GOALS = {0.9: 8.0, 0.95: 3.0, 1.0: 0.6}
"""Milestones, as shares of a job's whole loss reduction, the last being its end, and what reaching each is worth beside
the quality gained on the way. Models become useful at 90 and 95 % (SLAQ §6.2.1); the end is worth less to those who
wait for a model, but not nothing to those who wait for a core."""

VALUES = tuple(share - before + GOALS[share] for before, share in pairwise((0.0, *GOALS)))

SURE_SHARE = 0.02
"""Of its fair share, what a job keeps whatever is predicted for it: a job runs at a fiftieth of it at least."""


def allocate(snapshot: Snapshot) -> Decision:
    """The rest goes out core by core to whoever it brings the most value of milestones."""
    outlook = snapshot.outlook
    milestones = Milestones([outlook.until(share) for share in GOALS], VALUES)

    def worth(job: IntArray, cores: FloatArray) -> FloatArray:
        return milestones.value(job, outlook.ahead(job, cores + 1.0)) - milestones.value(job, outlook.ahead(job, cores))

    return core_by_core("finish-line", "gain", snapshot, worth, SURE_SHARE)

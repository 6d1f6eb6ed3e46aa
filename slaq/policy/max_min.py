"""max-min: every core goes to the job that would otherwise be the worst (SLAQ §4.3).

The paper prints argmin where it says "the worst job": the job to raise is the one with the largest loss.
"""

from slaq.model import Decision, FloatArray, IntArray, Snapshot
from slaq.policy.base import core_by_core

EVEN_OUT = 1e-9
"""Among jobs that are equally bad, the one with fewer cores is raised first."""


def allocate(snapshot: Snapshot) -> Decision:
    """The rest goes out core by core to the largest weighted loss at the end of the coming epoch."""

    def badness(job: IntArray, cores: FloatArray) -> FloatArray:
        return snapshot.outlook.loss(job, cores) + EVEN_OUT / (1.0 + cores)

    return core_by_core("max-min", "worst", snapshot, badness)

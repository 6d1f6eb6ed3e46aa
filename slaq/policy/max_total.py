"""max-total: every core goes where it reduces the normalised loss most (SLAQ, Algorithm 1)."""

from slaq.model import Decision, FloatArray, IntArray, Snapshot
from slaq.policy.base import core_by_core


def allocate(snapshot: Snapshot) -> Decision:
    """The rest goes out core by core to the largest weighted loss reduction of the coming epoch."""
    outlook = snapshot.outlook

    def gain(job: IntArray, cores: FloatArray) -> FloatArray:
        return outlook.reduction(job, cores + 1.0) - outlook.reduction(job, cores)

    return core_by_core("max-total", "gain", snapshot, gain)

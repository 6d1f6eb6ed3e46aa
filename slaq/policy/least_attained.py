"""least-attained: every core goes to the job that has held the fewest core-seconds so far, by weight."""

from slaq.model import Decision, FloatArray, IntArray, Snapshot
from slaq.policy.base import core_by_core


def allocate(snapshot: Snapshot) -> Decision:
    """The least served jobs are raised to one level."""
    attained = snapshot.column("attained_core_s")

    def urgency(job: IntArray, cores: FloatArray) -> FloatArray:
        return 1.0 / (1.0 + attained[job] + cores * snapshot.epoch_s)

    return core_by_core("least-attained", "attained", snapshot, urgency)

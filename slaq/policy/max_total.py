"""max-total: every core goes where it reduces the normalised loss most (SLAQ, Algorithm 1)."""

from slaq.model import Decision, Snapshot
from slaq.policy.base import core_by_core
from slaq.policy.climb import marginal


def allocate(snapshot: Snapshot) -> Decision:
    """The rest goes out core by core to the largest weighted loss reduction of the coming epoch."""
    return core_by_core("max-total", "gain", snapshot, marginal(snapshot.outlook.reduction))

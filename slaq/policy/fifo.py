"""fifo: above the floor, the job that came first takes all it can use, then the next."""

from slaq.model import Decision, Snapshot
from slaq.policy.base import Dues, Rest, decide, in_order


def allocate(snapshot: Snapshot) -> Decision:
    """The rest goes out in order of arrival."""
    return decide("fifo", snapshot, _hand_out)


def _hand_out(snapshot: Snapshot, dues: Dues) -> Rest:
    return in_order("arrival", dues, snapshot.column("arrived_s"))

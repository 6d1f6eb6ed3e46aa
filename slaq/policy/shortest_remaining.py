"""shortest-remaining: above the floor, the job with the least work until its expected end takes all it can use."""

import numpy as np

from slaq.model import Decision, FloatArray, Snapshot
from slaq.policy.base import Dues, Rest, decide, in_order


def allocate(snapshot: Snapshot) -> Decision:
    """The rest goes out in order of the remaining work, divided by weight."""
    return decide("shortest-remaining", snapshot, _hand_out)


def _hand_out(snapshot: Snapshot, dues: Dues) -> Rest:
    return in_order("remaining", dues, _work_left(snapshot))


def _work_left(snapshot: Snapshot) -> FloatArray:
    """Seconds that one core would need to each job's expected end, divided by weight."""
    weight = snapshot.column("weight")
    everyone = np.arange(len(weight))
    pace = snapshot.outlook.ahead(everyone, np.ones(len(weight)))
    left = snapshot.outlook.until(1.0)
    return np.where(pace > 0.0, left / np.where(pace > 0.0, pace, 1.0), np.inf) / weight

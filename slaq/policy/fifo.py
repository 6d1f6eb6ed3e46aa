"""fifo: above the floor, the job that came first takes all it can use, then the next."""

import numpy as np

from slaq.model import Decision, Snapshot
from slaq.policy.base import Dues, Rest, decide


def allocate(snapshot: Snapshot) -> Decision:
    """The rest goes out in order of arrival."""
    return decide("fifo", snapshot, _hand_out)


def _hand_out(snapshot: Snapshot, dues: Dues) -> Rest:
    room = np.maximum(dues.cap - dues.cores, 0.0)[dues.training]
    extra = np.zeros(len(snapshot.jobs))
    extra[dues.training] = np.clip(dues.budget - (np.cumsum(room) - room), 0.0, room)
    return Rest("arrival", extra, np.zeros(len(extra)), 0.0)

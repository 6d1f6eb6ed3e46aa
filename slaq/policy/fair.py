"""fair: everyone the same, by weight, and what some cannot use goes to the others."""

import numpy as np

from slaq.model import Decision, Snapshot
from slaq.policy.base import explained, fair_shares


def allocate(snapshot: Snapshot) -> Decision:
    """Weighted max-min fair shares, in fractions of a core where they do not come out even."""
    fair = fair_shares(snapshot)
    share = fair.share
    rule = np.full(len(share), "fair", dtype=np.object_)
    if not snapshot.cores:
        rule[:] = "none"
    else:
        rule[(fair.due > 1.0) & (share <= fair.due)] = "reserved"
        rule[share >= fair.cap] = "cap"
    return explained("fair", snapshot.jobs, share, rule, np.zeros(len(share)), 0.0)

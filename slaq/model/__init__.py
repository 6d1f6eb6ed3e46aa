"""The frozen records that travel between the layers: jobs, their histories, snapshots and decisions."""

from slaq.model.decision import Decision, Reason
from slaq.model.history import EMPTY_HISTORY, History, Iteration
from slaq.model.job import Job
from slaq.model.snapshot import BoolArray, FloatArray, IntArray, Outlook, Snapshot

__all__ = [
    "EMPTY_HISTORY",
    "BoolArray",
    "Decision",
    "FloatArray",
    "History",
    "IntArray",
    "Iteration",
    "Job",
    "Outlook",
    "Reason",
    "Snapshot",
]

"""The frozen records that travel between the layers: jobs, their lives and histories, snapshots and decisions.

Records that hold only numbers, texts and each other cannot form cycles. They are left out of Python's garbage
collection (`gc=False`), which would otherwise walk through all of them several times in a decision.
"""

from slaq.model.decision import Decision, Reason
from slaq.model.expectation import EXPECT_NOTHING, Expectation, Expected
from slaq.model.groups import Groups
from slaq.model.history import EMPTY_HISTORY, History
from slaq.model.job import Job
from slaq.model.life import Life
from slaq.model.past import PastFit
from slaq.model.snapshot import BoolArray, FloatArray, IntArray, Outlook, Snapshot
from slaq.model.tuning import DEFAULTS, Tuning
from slaq.records import Report

__all__ = [
    "DEFAULTS",
    "EMPTY_HISTORY",
    "EXPECT_NOTHING",
    "BoolArray",
    "Decision",
    "Expectation",
    "Expected",
    "FloatArray",
    "Groups",
    "History",
    "IntArray",
    "Job",
    "Life",
    "Outlook",
    "PastFit",
    "Reason",
    "Report",
    "Snapshot",
    "Tuning",
]

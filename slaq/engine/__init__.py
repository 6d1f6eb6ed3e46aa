"""The engine: `step(state, event) -> (state, effects)`, the same function in every shell around it."""

from slaq.engine.events import (
    CapacityChanged,
    EpochEnded,
    Event,
    JobChanged,
    JobJoined,
    JobLeft,
    JobReported,
    JobSeen,
    PolicyChanged,
)
from slaq.engine.state import Allocated, Effect, JobLost, PolicyFailed, State, check
from slaq.engine.step import replay, run, step

__all__ = [
    "Allocated",
    "CapacityChanged",
    "Effect",
    "EpochEnded",
    "Event",
    "JobChanged",
    "JobJoined",
    "JobLeft",
    "JobLost",
    "JobReported",
    "JobSeen",
    "PolicyChanged",
    "PolicyFailed",
    "State",
    "check",
    "replay",
    "run",
    "step",
]

"""The engine: `step(state, event) -> (state, effects)`, the same function in every shell around it."""

from slaq.engine.events import (
    CapacityChanged,
    EpochEnded,
    Event,
    JobJoined,
    JobMoved,
    JobReported,
    JobSeen,
    PolicyChanged,
    PredictorChanged,
    Share,
    SharesChanged,
    TuningChanged,
    UsersChanged,
)
from slaq.engine.state import Allocated, Effect, JobEnded, JobPreempted, PolicyFailed, State, UserDue, check
from slaq.engine.step import Predictor, Predictors, replay, run, step

__all__ = [
    "Allocated",
    "CapacityChanged",
    "Effect",
    "EpochEnded",
    "Event",
    "JobEnded",
    "JobJoined",
    "JobMoved",
    "JobPreempted",
    "JobReported",
    "JobSeen",
    "PolicyChanged",
    "PolicyFailed",
    "Predictor",
    "PredictorChanged",
    "Predictors",
    "Share",
    "SharesChanged",
    "State",
    "TuningChanged",
    "UserDue",
    "UsersChanged",
    "check",
    "replay",
    "run",
    "step",
]

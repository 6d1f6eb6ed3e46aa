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
)
from slaq.engine.state import Allocated, Effect, JobEnded, PolicyFailed, State, check
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
    "check",
    "replay",
    "run",
    "step",
]

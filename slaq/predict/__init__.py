"""Prediction: loss curves of all jobs in one batch, the runtime of an iteration, and both together."""

from slaq.predict.forecast import forecast
from slaq.predict.outlook import look_ahead
from slaq.predict.standing import standing, standings

__all__ = ["forecast", "look_ahead", "standing", "standings"]

"""What a job is worth by the time it takes: a falling sigmoid (OASiS §V)."""

import math

import numpy as np
from msgspec import Struct

from slaq.errors import SlaqError
from slaq.model import FloatArray
from slaq.records import Wish


class Utility(Struct, frozen=True, gc=False):
    """`worth / (1 + exp(urgency (elapsed - target)))`; with an urgency of 0 always half of `worth`, as published."""

    worth: float
    """γ1, the job's priority."""
    urgency: float
    """γ2, per unit of time: 0 does not care for time, a large one loses everything just after the target."""
    target: float
    """γ3, in units of time after the start: half of the worth is left then."""

    def at(self, elapsed: FloatArray) -> FloatArray:
        """The value of an end after these times."""
        value: FloatArray = self.worth / (1.0 + np.exp(np.clip(self.urgency * (elapsed - self.target), -700.0, 700.0)))
        return value


PRESETS = {"time-critical": 5.0, "time-sensitive": 0.5, "insensitive": 0.0}
"""Urgency per slot of a job that names a class: the middle of the paper's ranges 4–6, 0.01–1 and 0."""


def of_wish(wish: Wish, slot_s: float) -> Utility | None:
    """What a user's wish says of the job's end, in seconds; None if nothing.

    A deadline alone is time-critical: nearly everything is left at it (0.993), nearly nothing two slots later, so that
    what is planned in slots ends in its slot or before.
    """
    if isinstance(wish.utility, tuple):
        return Utility(*wish.utility)
    if not wish.timed:
        return None
    target_s = wish.deadline_s or 0.0
    if wish.utility is None or wish.utility == "time-critical":
        target_s += slot_s
    return Utility(1.0, PRESETS[wish.utility or "time-critical"] / slot_s, target_s)


def validated(utility: Utility) -> Utility:
    """The utility, if its numbers make sense; a SlaqError naming the value otherwise."""
    worth, urgency, target = utility.worth, utility.urgency, utility.target
    if not (math.isfinite(worth) and worth > 0.0):
        raise SlaqError(f"utility: a worth of {worth!r}; give a positive number, usually 1")
    if not (math.isfinite(urgency) and urgency >= 0.0):
        raise SlaqError(f"utility: an urgency of {urgency!r} per second; give 0 or more")
    if not (math.isfinite(target) and target >= 0.0):
        raise SlaqError(f"utility: a target of {target!r} s after the start; give 0 or more")
    return utility

"""Loss histories with missing reports, made even: the forecaster counts in equal steps."""

from itertools import pairwise
from struct import pack

from slaq.model import History

LONGEST_GAP = 16
"""A gap of more steps than this is taken for a renumbering, not for missing reports."""


def evenly_spaced(history: History) -> tuple[bytes, int]:
    """The packed losses one step apart, missing ones filled in on a straight line, and the iterations in a step.

    A step is the smallest distance between two reported iterations: a job that reports every tenth
    iteration is followed in steps of ten.
    """
    if history.even:
        return history.packed_losses, 1
    iterations, losses = history.iterations, history.losses
    gaps = [after - before for before, after in pairwise(iterations)]
    step = min(gaps)
    even = [losses[0]]
    for gap, (before, after) in zip(gaps, pairwise(losses), strict=True):
        steps = round(gap / step)
        if 1 < steps <= LONGEST_GAP:
            even.extend(before + (after - before) * i / steps for i in range(1, steps))
        even.append(after)
    return pack(f"={len(even)}d", *even), step

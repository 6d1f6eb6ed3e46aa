"""Spark's own fits: every one ends with the model it has without faults, and is in the history as Spark tells it."""

import math

from slaq.bench._chaos.evidence import Evidence, Fit

TOLERANCE = 1e-6
"""Sums of floating-point numbers in another order; a fit that lost a partition or an iteration differs by far more."""


def check(evidence: Evidence) -> list[str]:
    """What contradicts it."""
    found = []
    for fit in evidence.fits:
        if fit.ended_s is None:
            found.append(f"{fit.name} did not end")
        elif not _alike(fit.model, fit.expected_model):
            found.append(f"{fit.name} ended with another model than without faults")
        elif wrong := _wrong(fit):
            found.append(f"of {fit.name} {wrong}")
    return found


def _alike(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return len(one) == len(other) and all(
        math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE) for a, b in zip(one, other, strict=True)
    )


def _wrong(fit: Fit) -> str:
    """What is wrong with what was kept of a fit that somebody followed all the time."""
    if not fit.followed:
        return ""
    if fit.kept is None:
        return "nothing is in the history"
    if fit.kept.state != "finished":
        return f"the history says that it is {fit.kept.state}"
    kept = tuple(loss for loss in fit.kept.losses if loss is not None)
    if not _alike(kept, fit.losses):
        return f"{len(kept)} losses were kept, which are not the {len(fit.losses)} that Spark tells"
    return ""

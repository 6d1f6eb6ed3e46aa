"""Early answers: when a job is good enough, and what then happens. Off unless asked for.

A job is good enough once its loss is at or below its target, or once all three of these hold:

- the share `share` of the predicted total loss reduction (from the first loss to the forecast limit) is reached,
- for `patience` iterations in a row,
- each of which gained less than `tolerance` of the reduction so far.

`tell` says so once; `stop` also makes `slaq.should_stop()` true. A loop of one's own stops by asking that. MLlib's
estimators have no such question in their loops and cannot end early with a model: they are told about, never stopped.
"""

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from slaq.errors import SlaqError

ACTIONS = ("off", "tell", "stop")

LIMIT_AHEAD = 4096
"""Iterations ahead at which a forecast is taken for the limit of the curve."""


class EarlyRule(Struct, frozen=True):
    """What "good enough" means, and what to do about it."""

    action: str = "off"
    share: float = 0.99
    patience: int = 5
    tolerance: float = 0.001


def checked(rule: EarlyRule) -> EarlyRule:
    """The rule, if its values make sense; a SlaqError naming the value otherwise."""
    if rule.action not in ACTIONS:
        raise SlaqError(f"early_answer is {rule.action!r}; give one of {', '.join(ACTIONS)}")
    if not 0.0 <= rule.share <= 1.0:
        raise SlaqError(f"the early answer's share is {rule.share!r}; give a number from 0 to 1")
    if not 0.0 <= rule.tolerance <= 1.0:
        raise SlaqError(f"the early answer's tolerance is {rule.tolerance!r}; give a number from 0 to 1")
    if rule.patience < 1:
        raise SlaqError(f"the early answer's patience is {rule.patience!r}; give 1 iteration or more")
    return rule


def verdict(losses: Sequence[float], rule: EarlyRule, target_loss: float | None = None) -> str | None:
    """Why the job is good enough, as a sentence for people; None while it is not, or nobody asked."""
    if rule.action == "off" or not losses:
        return None
    if target_loss is not None and losses[-1] <= target_loss:
        return f"its loss {losses[-1]:.6g} has reached the target {target_loss:.6g}"
    if not _calm(losses, rule):
        return None
    share = min(reached(losses[: len(losses) - back]) for back in range(rule.patience))
    if share < rule.share:
        return None
    return (
        f"{share:.1%} of the predicted loss reduction reached for {rule.patience} iterations, "
        f"none of which gained {rule.tolerance:.2%} of it"
    )


def reached(losses: Sequence[float]) -> float:
    """The share of the predicted total loss reduction that is behind the job; 0 while nothing was gained."""
    # Imported when asked: a program that only reports needs no numpy.
    from slaq.predict import forecast

    limit = float(forecast([losses], [LIMIT_AHEAD])[0, 0])
    gained = losses[0] - losses[-1]
    whole = losses[0] - min(limit, losses[-1])
    return gained / whole if gained > 0.0 and whole > 0.0 else 0.0


def _calm(losses: Sequence[float], rule: EarlyRule) -> bool:
    """Whether the latest iterations gained next to nothing; checked first, for it is cheap and mostly false."""
    if len(losses) <= rule.patience + 1:
        return False
    so_far = losses[0] - losses[-1]
    recent = losses[-rule.patience - 1 :]
    return so_far > 0.0 and all(before - after < rule.tolerance * so_far for before, after in pairwise(recent))

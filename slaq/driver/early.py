"""Early answers: when a job is good enough, and what then happens. Off unless asked for.

A job is good enough once its loss is at or below its target, or once all three of these hold:

- it has reached the share `share` of its whole expected loss reduction (`Standing.reached`),
- for `patience` iterations in a row,
- each of which gained less than `tolerance` of the reduction so far.

`tell` logs it once. `stop` ends the job: a fit of MLlib returns the model it has; for a loop of one's own
`slaq.should_stop()` becomes true.
"""

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from slaq.errors import SlaqError
from slaq.records import Standing

ACTIONS = ("off", "tell", "stop")


class EarlyRule(Struct, frozen=True):
    """What "good enough" means, and what to do about it."""

    action: str = "off"
    share: float = 0.99
    patience: int = 5
    tolerance: float = 0.001


def validated(rule: EarlyRule) -> EarlyRule:
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


def verdict(
    losses: Sequence[float],
    rule: EarlyRule,
    target_loss: float | None = None,
    max_iterations: int | None = None,
    known: Standing | None = None,
) -> str | None:
    """Why the job is good enough, as a sentence for people; None while it is not, or the rule is off.

    `known` is the scheduler's latest standing of the job; without a scheduler it is computed from the losses.
    """
    if rule.action == "off" or not losses:
        return None
    if target_loss is not None and losses[-1] <= target_loss:
        return f"its loss {losses[-1]:.6g} has reached the target {target_loss:.6g}"
    if not _calm(losses, rule):
        return None
    share = 1.0
    for back in range(rule.patience):
        latest = known if back == 0 else None
        before = losses[: len(losses) - back]
        share = min(share, (latest or estimated(before, max_iterations, target_loss)).reached)
        if share < rule.share:
            return None
    return (
        f"{share:.1%} of the expected loss reduction reached for {rule.patience} iterations, "
        f"none of which gained {rule.tolerance:.2%} of it"
    )


def estimated(losses: Sequence[float], max_iterations: int | None, target_loss: float | None) -> Standing:
    """The standing of a job from its losses alone; see `slaq.predict.standing`."""
    # Imported here: a program that only reports losses does without numpy.
    from slaq.predict import standing

    return standing(losses, max_iterations, target_loss)


def _calm(losses: Sequence[float], rule: EarlyRule) -> bool:
    """Whether each of the latest iterations gained next to nothing. Cheap, mostly false, and so asked first."""
    if len(losses) <= rule.patience + 1:
        return False
    so_far = losses[0] - losses[-1]
    recent = losses[-rule.patience - 1 :]
    return so_far > 0.0 and all(before - after < rule.tolerance * so_far for before, after in pairwise(recent))

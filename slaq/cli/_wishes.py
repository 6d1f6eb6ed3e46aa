"""What a job's user wishes, in words."""

from slaq.cli._text import duration, plain
from slaq.records import Wish

PLANS = "oasis"
"""The policy that plans for deadlines and utilities."""


def wish_facts(wish: Wish, policy: str) -> dict[str, str]:
    """By when the job should end, what that is worth, and its class, as far as something was said."""
    facts: dict[str, str] = {}
    if wish.deadline_s is not None:
        facts["deadline"] = f"{duration(wish.deadline_s)} after it began, {wish.utility or 'time-critical'}"
    elif isinstance(wish.utility, tuple):
        worth, urgency, target_s = wish.utility
        facts["its end is worth"] = f"{worth:g} / (1 + exp({urgency:g} (t - {target_s:g}))) after t seconds"
    elif wish.utility is not None:
        facts["its end is worth"] = f"the same at any time ({wish.utility})"
    if facts and policy != PLANS:
        facts |= {name: f"{text}; policy {plain(policy)} does not look at it" for name, text in facts.items()}
    if wish.kind is not None:
        facts["class"] = {"te": "te: a trial, which gets in before best-effort jobs"}.get(wish.kind, wish.kind)
    return facts

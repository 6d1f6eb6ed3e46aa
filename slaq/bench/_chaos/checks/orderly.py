"""No process ended by itself, none left a stack trace, and nothing was answered that makes no sense."""

from slaq.bench._chaos.evidence import Evidence


def check(evidence: Evidence) -> list[str]:
    """What contradicts it."""
    return list(evidence.surprises)

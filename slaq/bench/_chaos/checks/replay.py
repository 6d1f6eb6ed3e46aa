"""Every decision log replays to the same decisions; one that a fault wrote into says so or does."""

from slaq.bench._chaos.evidence import Evidence


def check(evidence: Evidence) -> list[str]:
    """What contradicts it."""
    found = [] if any(log.decisions for log in evidence.logs) else ["no decision was logged"]
    for log in evidence.logs:
        if log.error and not log.damaged:
            found.append(f"{log.name} cannot be replayed: {log.error}")
        if log.differing and not log.damaged:
            found.append(f"{log.name} replays to other decisions from epoch {log.differing[0]} on")
    return found

"""Every decision log replays to the same decisions; one that a fault wrote into says so or does."""

from slaq.bench._chaos.evidence import Evidence


def check(evidence: Evidence) -> list[str]:
    """What contradicts it."""
    # A scheduler that never began a second file may have lost its only one to a fault.
    logged = any(log.damaged or log.decisions for log in evidence.logs)
    found = [] if logged else ["no decision was logged"]
    for log in evidence.logs:
        if log.error and not log.damaged:
            found.append(f"{log.name} cannot be replayed: {log.error}")
        if log.differing and not log.damaged:
            found.append(f"{log.name} replays to other decisions from epoch {log.differing[0]} on")
    return found

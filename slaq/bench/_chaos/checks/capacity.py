"""Outside the windows of faults all jobs together hold no more than the capacity, but for a burst."""

from collections.abc import Iterator

from slaq.bench._chaos.evidence import SLACK_S, Evidence, Life

BURST_CORES = 1.0
"""Lent to an application that begins to work between two decisions."""
BURST_S = 1.5
"""How long more may be held in one go: grants that changed reach one application before another."""


def check(evidence: Evidence) -> list[str]:
    """What contradicts it."""
    windows = [(fault.began_s, evidence.mended_s(fault)) for fault in evidence.faults if fault.loosens]
    # At the beginning nobody knows of the others yet, and at the end applications leave.
    windows += [(0.0, evidence.began_s + evidence.lease_s + SLACK_S), (evidence.ended_s, float("inf"))]
    return [
        f"{most:g} cores were held for {end_s - begin_s:.1f} s, {begin_s - evidence.began_s:.1f} s after the start; "
        f"there are {evidence.capacity:g}"
        for begin_s, end_s, most in excesses(evidence)
        for begin_s, end_s in _outside(begin_s, end_s, windows)
        if end_s - begin_s > BURST_S
    ]


def excesses(evidence: Evidence) -> list[tuple[float, float, float]]:
    """(begin, end, most) of every stretch of time in which more than capacity and burst were held."""
    died = {contact.app: contact.died_s for contact in evidence.contacts}
    changes = sorted(change for life in evidence.lives for change in _changes(life, died.get(life.app)))
    held = 0.0
    found: list[tuple[float, float, float]] = []
    began_s: float | None = None
    most = 0.0
    for at_s, change in changes:
        held += change
        over = held > evidence.capacity + BURST_CORES + 1e-6
        if over:
            began_s, most = at_s if began_s is None else began_s, max(most, held)
        elif began_s is not None:
            found.append((began_s, at_s, most))
            began_s, most = None, 0.0
    return found


def _changes(life: Life, died_s: float | None) -> Iterator[tuple[float, float]]:
    end_s = life.ended_s if life.ended_s is not None else died_s
    held = 0.0
    for at_s, cores in life.cores:
        now = life.full if cores is None else min(cores, life.full)
        yield at_s, now - held
        held = now
    if end_s is not None:
        yield end_s, -held


def _outside(begin_s: float, end_s: float, windows: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """What is left of a stretch of time without the windows."""
    left = [(begin_s, end_s)]
    for first, last in windows:
        left = [
            part
            for begin, end in left
            for part in ((begin, min(end, first)), (max(begin, last), end))
            if part[0] < part[1]
        ]
    return left

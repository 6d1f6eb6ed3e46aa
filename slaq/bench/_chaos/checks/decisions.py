"""Decisions come on time, whatever happens to disk, network and agents."""

from itertools import pairwise

from slaq.bench._chaos.evidence import SLACK_S, Evidence

FREEZES = ("freeze scheduler",)


def check(evidence: Evidence) -> list[str]:
    """What contradicts it."""
    frozen = [(fault.began_s, fault.ended_s) for fault in evidence.faults if fault.kind in FREEZES]
    found = []
    for log in evidence.logs:
        for before, after in pairwise(log.decisions):
            gap_s = after.at_s - before.at_s
            excused = any(begin < after.at_s and before.at_s < end for begin, end in frozen)
            if gap_s > evidence.epoch_s + SLACK_S and not excused:
                found.append(f"{gap_s:.1f} s passed between two decisions in {log.name}")
    return found

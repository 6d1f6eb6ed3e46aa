"""Nobody waits longer than a lease for a part that is dead, and everybody comes back when all is well again."""

from itertools import pairwise

from slaq.bench._chaos.evidence import SETTLE_EPOCHS, SLACK_S, Contact, Evidence

FREEZES = ("freeze scheduler",)
"""After these the scheduler blames itself for the silence and counts everyone as heard of."""


def check(evidence: Evidence) -> list[str]:
    """What contradicts it."""
    return [
        sentence
        for contact in evidence.contacts
        for sentence in (*_held_too_long(contact, evidence), *_outlived(contact, evidence), *_away(contact, evidence))
    ]


def _held_too_long(contact: Contact, evidence: Evidence) -> list[str]:
    """Grants hold until a lease after the answer that renewed them, and then jobs run unthrottled."""
    heard = sorted([(at_s, True) for at_s in contact.renewed_s] + [(at_s, False) for at_s in contact.opened_s])
    if contact.died_s is None and heard and heard[-1][1]:
        return [f"application {contact.app} never let its jobs go after its last answer"]
    found = []
    for (at_s, renewed), (next_s, _) in pairwise(heard):
        until_s = at_s + evidence.lease_s + SLACK_S
        stopped = any(begin < until_s and next_s <= end + SLACK_S for begin, end in contact.silent)
        if renewed and next_s > until_s and not stopped:
            found.append(f"application {contact.app} was held for {next_s - at_s:.1f} s by one answer")
    return found


def _outlived(contact: Contact, evidence: Evidence) -> list[str]:
    """The cores of an application that was killed go to others after a lease."""
    if contact.died_s is None:
        return []
    heard_s = max(contact.died_s, contact.delivered_s)
    for fault in sorted(evidence.faults, key=lambda fault: fault.began_s):
        if fault.kind in FREEZES and fault.began_s <= heard_s + evidence.lease_s + SLACK_S:
            heard_s = max(heard_s, fault.ended_s)
    until_s = heard_s + evidence.lease_s + SETTLE_EPOCHS * evidence.epoch_s + SLACK_S
    for log in evidence.logs:
        for decision in log.decisions:
            if decision.at_s > until_s and any(key.startswith(f"{contact.app}-") for key in decision.cores):
                late_s = decision.at_s - contact.died_s
                return [f"application {contact.app} still had cores {late_s:.1f} s after it was killed"]
    return []


def _away(contact: Contact, evidence: Evidence) -> list[str]:
    """After the last fault every application follows the scheduler again."""
    mended_s = max((evidence.mended_s(fault) for fault in evidence.faults), default=evidence.began_s)
    trained = any(life.app == contact.app and (life.ended_s or 0.0) > mended_s for life in evidence.lives)
    if contact.died_s is None and trained and max(contact.renewed_s, default=0.0) < mended_s:
        return [f"application {contact.app} did not come back to the scheduler after the last fault"]
    return []

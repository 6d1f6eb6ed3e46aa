"""The history is complete: every job is in it with how it ended, and nothing in it is still alive."""

from slaq.bench._chaos.evidence import SLACK_S, Contact, Evidence, Life
from slaq.records import ENDINGS

DISK = ("full disk", "file size limit", "read-only folder")
JOINED_S = 2.0
"""A job is on record this long after it began, if its application had an answer since."""


def check(evidence: Evidence) -> list[str]:
    """What contradicts it."""
    contacts = {contact.app: contact for contact in evidence.contacts}
    found = []
    for life in evidence.lives:
        contact = contacts[life.app]
        kept = evidence.history.get(life.key)
        if kept is None:
            if _on_record(life, contact, evidence):
                found.append(f"job {life.key} is not in the history")
            continue
        expected = "finished" if life.ended_s is not None and contact.died_s is None else None
        if kept.state not in ENDINGS:
            found.append(f"job {life.key} is {kept.state} in the history although all is over")
        elif expected is not None and kept.state != expected:
            found.append(f"job {life.key} is {kept.state} in the history; it {expected}")
        elif life.ended_s is None and kept.state != "lost":
            found.append(f"job {life.key} is {kept.state} in the history; its application was killed")
    return found


def _on_record(life: Life, contact: Contact, evidence: Evidence) -> bool:
    """Whether a job must have reached the disk: if it ended, always; if its application was killed, if it could."""
    if contact.died_s is None:
        return life.ended_s is not None and life.ended_s > evidence.history_since_s
    answered = any(life.began_s + JOINED_S < at_s for at_s in contact.renewed_s)
    until_s = contact.died_s + evidence.lease_s + SLACK_S
    no_disk = any(
        fault.kind in DISK and fault.began_s < until_s and evidence.mended_s(fault) > life.began_s
        for fault in evidence.faults
    )
    return answered and life.began_s > evidence.history_since_s and not no_disk

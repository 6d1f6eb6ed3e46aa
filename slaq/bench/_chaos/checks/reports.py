"""No report is lost, counted twice, or credited to another job."""

from slaq.bench._chaos.evidence import Evidence, Kept, Life


def check(evidence: Evidence) -> list[str]:
    """What contradicts it."""
    lives = {life.key: life for life in evidence.lives}
    died = {contact.app for contact in evidence.contacts if contact.died_s is not None}
    found = [
        f"application {contact.app} gave up {contact.dropped} reports"
        for contact in evidence.contacts
        if contact.dropped
    ]
    for key, kept in evidence.history.items():
        if key not in lives:
            found.append(f"the history has job {key}, which nobody trained")
        elif wrong := _wrong(lives[key], kept, lives[key].app in died):
            found.append(f"of job {key} {wrong}")
    return found


def _wrong(life: Life, kept: Kept, died: bool) -> str:
    """What is wrong with what was kept; the last reports of an application that was killed went with it."""
    made = life.losses[: len(kept.losses)] if died else life.losses
    if kept.reports != len(kept.losses):
        return f"{kept.reports} reports were counted, {len(kept.losses)} are in its curve"
    if len(kept.losses) != len(made):
        return f"{len(life.losses)} reports were made and {len(kept.losses)} kept"
    strange = next((n for n, (one, other) in enumerate(zip(made, kept.losses, strict=True)) if one != other), None)
    return "" if strange is None else f"report {strange} is {kept.losses[strange]}, it was made as {made[strange]}"

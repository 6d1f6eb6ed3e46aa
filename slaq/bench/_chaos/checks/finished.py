"""Every job ends, with the model that it has without faults; only jobs of a process that was killed do not."""

from slaq.bench._chaos.evidence import Evidence


def check(evidence: Evidence) -> list[str]:
    """What contradicts it."""
    died = {contact.app for contact in evidence.contacts if contact.died_s is not None}
    found = [] if evidence.lives else ["no job trained at all"]
    for life in evidence.lives:
        if life.model is None and life.app not in died:
            found.append(f"job {life.key} did not end")
        elif life.model is not None and life.model != life.expected_model:
            found.append(f"job {life.key} ended with model {life.model}, without faults it is {life.expected_model}")
    return found

"""Whole cores in turns for jobs of several drivers that are due less than one each.

A job with a third of a core runs a task for a third of the time. One driver fills the gaps with its other jobs, but
drivers do not know of each other: their small shares may all run at once, or none of them. So in each epoch some of
these jobs get a whole core and the others none, and over the epochs every job gets what was decided.
"""

from collections.abc import Mapping

from slaq.scheduler.live import LiveJob


def take_turns(cores: Mapping[str, float], jobs: Mapping[str, LiveJob]) -> dict[str, float]:
    """The cores of this epoch: shares below one core become whole ones, for the jobs that are owed most."""
    granted = dict(cores)
    small = [(key, jobs[key], share) for key, share in cores.items() if 0.0 < share < 1.0 and key in jobs]
    left = 0.0
    for _, job, share in small:
        job.owed += share
        left += share
    for key, job, _ in sorted(small, key=lambda entry: -entry[1].owed):
        granted[key] = min(left, 1.0) if left > 1e-6 else 0.0
        job.owed -= granted[key]
        left -= granted[key]
    return granted

"""What users are due: their weight, and their cores together, told to each of their jobs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from slaq.config import Config, UserConfig
from slaq.model.job import WEIGHTS
from slaq.scheduler.live import LiveJob


@dataclass(frozen=True, slots=True)
class Due:
    """What one job is due by its user's standing."""

    weight: float
    reserved_cores: float
    max_cores: float
    over_quota: bool = False


def dues(jobs: Sequence[LiveJob], config: Config) -> list[Due]:
    """What each of one user's jobs is due, in order of arrival; those that are held or idle take no part.

    Reserved cores go to the jobs that ask for some, first come, first served; what is left of the user's
    reservation is spread over all. Without a table for the user a job gets what it asks for. Cores that a
    user may hold at most are divided evenly; jobs beyond one core each wait.
    """
    user = jobs[0].app.user
    known = user in config.users or "*" in config.users
    standing = config.standing(user)
    sharing = [job for job in jobs if not job.aside]
    reserved = _reserved(sharing, standing) if known else [job.declared.reserved_cores for job in sharing]
    most, places = _most(len(sharing), standing)
    order = {job.key: place for place, job in enumerate(sharing)}
    found = []
    for job in jobs:
        weight = min(max(_weight(job) * standing.weight, WEIGHTS[0]), WEIGHTS[1])
        useful = math.inf if job.declared.max_cores is None else job.declared.max_cores
        place = order.get(job.key)
        if place is None:
            found.append(Due(weight, 0.0, useful))
        else:
            found.append(Due(weight, reserved[place], max(min(useful, most), 1.0), place >= places))
    return found


def _weight(job: LiveJob) -> float:
    return job.declared.weight if job.weight is None else job.weight


def _reserved(jobs: Sequence[LiveJob], standing: UserConfig) -> list[float]:
    left = standing.reserved_cores
    given: list[float] = []
    for job in jobs:
        given.append(min(job.declared.reserved_cores, left))
        left -= given[-1]
    return [cores + left / len(jobs) for cores in given]


def _most(jobs: int, standing: UserConfig) -> tuple[float, float]:
    """The cores each job may have, and how many jobs may have some."""
    if jobs <= standing.max_cores:
        return standing.max_cores / max(jobs, 1), jobs
    return 1.0, standing.max_cores // 1.0

"""What users are due, their weight and their cores together, as a share of each of their jobs."""

import math
from collections.abc import Iterable, Sequence

from slaq.config import Config, UserConfig
from slaq.engine import Share, UserDue
from slaq.model import Job
from slaq.records import WEIGHTS
from slaq.scheduler.live import LiveJob

_ASIDE = frozenset(("held", "idle"))
"""Causes to wait that leave a job's part to its user's other jobs."""


def shares(user: str, jobs: Sequence[tuple[LiveJob, Job]], config: Config) -> list[Share]:
    """What each of one user's jobs is due, in order of arrival; held and idle ones take no part.

    Reserved cores go to the jobs that ask for some, first come, first served; what is left of the user's
    reservation is spread over all. Without a table for the user a job gets what it asks for. Cores that a
    user may hold at most are divided evenly; jobs beyond one core each are over quota. Where users share before their
    jobs do, a user's weight and limit count for all of them together (`user_dues`) and not for each.
    """
    standing = config.standing(user)
    sharing = [live for live, job in jobs if _ASIDE.isdisjoint(job.life.waits)]
    if user in config.users or "*" in config.users:
        reserved = _reserved(sharing, standing)
    else:
        reserved = [live.declared.reserved_cores for live in sharing]
    fair = config.scheduler.between_users == "fair"
    most, places = (math.inf, len(sharing)) if fair else _most(len(sharing), standing)
    order = {live.key: place for place, live in enumerate(sharing)}
    found = []
    for live, _ in jobs:
        weight = min(max(_weight(live) * (1.0 if fair else standing.weight), WEIGHTS[0]), WEIGHTS[1])
        useful = math.inf if live.declared.max_cores is None else live.declared.max_cores
        place = order.get(live.key)
        if place is None:
            found.append(Share(live.key, weight, 0.0, useful))
        else:
            found.append(Share(live.key, weight, reserved[place], max(min(useful, most), 1.0), place >= places))
    return found


def user_dues(config: Config, users: Iterable[str]) -> tuple[UserDue, ...]:
    """What these users are due, where users share before their jobs do."""
    if config.scheduler.between_users != "fair":
        return ()
    found = ((user, config.standing(user)) for user in sorted(users))
    return tuple(UserDue(user, standing.weight, standing.max_cores) for user, standing in found)


def share_now(job: Job) -> Share:
    """The share that the engine knows of."""
    return Share(job.id, job.weight, job.reserved_cores, job.max_cores, "over-quota" in job.life.waits)


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

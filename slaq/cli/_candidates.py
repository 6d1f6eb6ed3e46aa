"""Jobs of one group together, told apart by the parameters in which they differ."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from slaq.protocol import JobView

_NAME = re.compile(r"(?s)(?P<title>.*?) \((?P<params>\w+=[^()]*)\)$")
"""As drivers name the fits of a search: `LogisticRegression_a1b2 (regParam=0.1, maxIter=20)`."""


@dataclass(frozen=True, slots=True)
class Group:
    """Jobs of one user that belong together; one that belongs to nobody is a group of one, without a name."""

    name: str
    jobs: tuple[JobView, ...]


def grouped(jobs: Sequence[JobView]) -> list[Group]:
    """The jobs by group, in the order of the first of each; inside a group in the order given."""
    members: dict[tuple[str, str], list[JobView]] = {}
    for job in jobs:
        members.setdefault((job.user, job.group) if job.group else ("", job.id), []).append(job)
    return [Group(found[0].group if len(found) > 1 else "", tuple(found)) for found in members.values()]


def told_apart(group: Group, width: int) -> tuple[str, list[str]]:
    """The line of a group and one text for each of its jobs: parameters if that is all they differ in, else names.

    Where names and values do not fit into `width`, the names go to the group's line and the jobs have the values.
    """
    found = [_NAME.match(job.name) for job in group.jobs]
    titles = {match["title"] if match else job.name for match, job in zip(found, group.jobs, strict=True)}
    if len(titles) > 1:
        return group.name, [job.name for job in group.jobs]
    title = titles.pop()
    line = group.name if title in group.name or group.name in title else f"{group.name}: {title}"
    texts = [match["params"] if match else title for match in found]
    names = {tuple(part.partition("=")[0] for part in match["params"].split(", ")) for match in found if match}
    if max(map(len, texts)) <= width or len(names) != 1:
        return line, texts
    values = [", ".join(part.partition("=")[2] for part in m["params"].split(", ")) if m else title for m in found]
    return f"{line} ({', '.join(names.pop())})", values


def states(group: Group) -> str:
    """`running`, or `3 of 5` for those that have not ended, where the states differ."""
    counted = Counter(job.state for job in group.jobs)
    if len(counted) == 1:
        return group.jobs[0].state
    living = sum(job.ended_at is None for job in group.jobs)
    return f"{living} of {len(group.jobs)}"

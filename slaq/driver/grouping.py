"""Jobs by group, told apart by the parameters in which they differ: for tables, the progress display and Spark's UI."""

import re
from collections.abc import Sequence

from slaq.driver.status import JobStatus

_NAME = re.compile(r"(?s)(?P<title>.*?) \((?P<params>\w+=[^()]*)\)$")
"""As drivers name the fits of a search: `LogisticRegression_a1b2 (regParam=0.1, maxIter=20)`."""


def grouped(jobs: Sequence[JobStatus]) -> list[list[JobStatus]]:
    """The jobs by group, in the order of the first of each; a job without a group is one of its own."""
    members: dict[tuple[bool, str], list[JobStatus]] = {}
    for job in jobs:
        members.setdefault((bool(job.group), job.group or job.id), []).append(job)
    return list(members.values())


def labels(members: Sequence[JobStatus]) -> tuple[str, list[str]]:
    """The heading of a group and one text for each member: its parameters if they differ in nothing else."""
    found = [_NAME.match(job.name) for job in members]
    titles = {match["title"] if match else job.name for match, job in zip(found, members, strict=True)}
    if len(titles) > 1:
        return members[0].group, [job.name for job in members]
    title = titles.pop()
    return title, [match["params"] if match else title for match in found]


def sections(jobs: Sequence[JobStatus]) -> list[tuple[str, list[tuple[str, JobStatus]]]]:
    """Every group with its heading and a label for each member; a job alone has its name and no heading."""
    found = []
    for members in grouped(jobs):
        heading, texts = labels(members) if len(members) > 1 else ("", [members[0].name])
        found.append((heading, list(zip(texts, members, strict=True))))
    return found

"""Short ids: what tables show of a job's id, and what commands take for it.

An id is `application-job`. A short one has the beginning of the application and the job, `k3j2-fit-17`; of a long job
the middle is left out, `k3j2-nightly-s…run-17`. Both can be typed or pasted back; `*` may stand for `…`.
"""

from collections.abc import Sequence

from slaq.protocol import JobView

LEAST_OF_APP = 4
"""Characters of the application: of a hundred applications two share them in one case of three hundred."""

LONGEST_JOB = 20
"""Characters of the job: with them every necessary column still fits into 80."""


def short_ids(jobs: Sequence[JobView]) -> list[str]:
    """An id for each job, as short as tells the applications apart, and the jobs of each."""
    apps = {job.app for job in jobs}
    most = max(map(len, apps), default=LEAST_OF_APP)
    kept = next((n for n in range(LEAST_OF_APP, most) if len({app[:n] for app in apps}) == len(apps)), most)
    for longest in (LONGEST_JOB, 2 * LONGEST_JOB):
        short = [_short(job, kept, longest) for job in jobs]
        if len(set(short)) == len({job.id for job in jobs}):
            return short
    return [job.id for job in jobs]


def meant(name: str, jobs: Sequence[JobView]) -> list[JobView]:
    """The jobs that a person may mean: by id; by short id; by the beginning of the id, or by the job's name."""
    for matches in (
        [job for job in jobs if job.id == name],
        [job for job in jobs if _is_short_of(name, job)],
        [job for job in jobs if job.id.startswith(name) or job.name == name],
    ):
        if matches:
            return matches
    return []


def _short(job: JobView, kept: int, longest: int) -> str:
    own = _own(job)
    if len(own) > longest:
        head = longest // 2
        own = f"{own[:head]}…{own[head + 1 - longest :]}"
    return f"{job.app[:kept]}-{own}" if job.app else own


def _is_short_of(name: str, job: JobView) -> bool:
    app, dash, own = name.replace("*", "…").partition("-")
    head, gap, tail = own.partition("…")
    if not dash or len(app) < LEAST_OF_APP or not job.app.startswith(app):
        return False
    known = _own(job)
    return known.startswith(head) and known.endswith(tail) if gap else known == own


def _own(job: JobView) -> str:
    """The job's part of the id."""
    return job.id.removeprefix(f"{job.app}-") if job.app else job.id

"""One look at the scheduler: its status, the living jobs in a line each, and users; and a sample of it for charts."""

import math
from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import Struct

from slaq.protocol import Status
from slaq.scheduler.core import Scheduler
from slaq.scheduler.live import LiveJob

MOST_JOBS = 2000
"""Jobs in a look, the oldest first; the rest are counted."""
MOST_DRAWN = 40
"""Jobs in a sample, those with most cores; the others together are what is missing from the granted cores."""
SLICE = 250
"""Jobs read while the scheduler's lock is held once: well under a millisecond's work, so that beats do not wait."""
WAITING = ("queued", "held", "over-quota", "preempted")


class PageJob(Struct, frozen=True, array_like=True):
    """A living job; the page knows the fields by their place (`static/store.js`)."""

    id: str
    name: str
    user: str
    app: str
    estimator: str
    group: str
    state: str
    weight: float
    cores: float
    iteration: int | None
    loss: float | None
    reached: float | None
    diverged: bool
    core_s: float
    began_at: float
    stoppable: bool
    own_weight: float


class PageUser(Struct, frozen=True):
    """A user with living jobs, and what the configuration says of them."""

    user: str
    jobs: int
    waiting: int
    cores: float
    core_s: float
    weight: float
    reserved_cores: float
    max_cores: float | None


class Look(Struct, frozen=True):
    """What a page shows now."""

    status: Status
    jobs: list[PageJob]
    total: int
    """Living jobs that this page may see, shown or not."""
    users: list[PageUser]


class Sample(Struct, frozen=True, array_like=True):
    """A point of the charts."""

    at: float
    capacity: int
    granted: float
    waiting: int
    quality: float | None
    """Mean share of the expected loss reduction that training jobs have reached."""
    cores: list[tuple[str, str, float, str]]
    """Id, name, cores and user of the jobs with most cores."""

    def seen_by(self, user: str | None) -> "Sample":
        """The same without the names of other users' jobs; None: everyone's are shown."""
        if user is None:
            return self
        own = [job for job in self.cores if job[3] == user]
        return Sample(self.at, self.capacity, self.granted, self.waiting, self.quality, own)


def look(scheduler: Scheduler, sees: str | None) -> Look:
    """What somebody who sees the jobs of this user sees now; None: everyone's."""
    jobs: list[PageJob] = []
    users: dict[str, list[float]] = {}
    total = 0
    for some in _slices(scheduler, sees):
        total += len(some)
        jobs += some[: max(MOST_JOBS - len(jobs), 0)]
        for job in some:
            sums = users.setdefault(job.user, [0, 0, 0.0, 0.0])
            sums[0] += 1
            sums[1] += job.state in WAITING
            sums[2] += job.cores
            sums[3] += job.core_s
    return Look(scheduler.status(), jobs, total, [_user(scheduler, name, sums) for name, sums in sorted(users.items())])


def sample(scheduler: Scheduler) -> Sample:
    """The scheduler now, for the charts."""
    status = scheduler.status()
    with scheduler.locked():
        held = [(job.granted or 0.0, job) for job in scheduler.intake.jobs.values() if job.granted]
    held.sort(key=lambda pair: -pair[0])
    return Sample(
        status.now_at,
        status.capacity.cores,
        status.granted_cores,
        sum(status.jobs.get(state, 0) for state in WAITING),
        None if status.mean_loss is None else 1.0 - status.mean_loss,
        [(job.key, _title(job), round(cores, 3), job.app.user) for cores, job in held[:MOST_DRAWN]],
    )


def _slices(scheduler: Scheduler, sees: str | None) -> Iterator[list[PageJob]]:
    with scheduler.locked():
        scheduler.recorder.flush()
        jobs = [job for job in scheduler.intake.jobs.values() if sees is None or job.app.user == sees]
    rest = iter(jobs)
    while some := list(islice(rest, SLICE)):
        with scheduler.locked():
            yield _lines(scheduler, some)


def _lines(scheduler: Scheduler, jobs: Sequence[LiveJob]) -> list[PageJob]:
    found = []
    for job in jobs:
        known = scheduler.recorder.state.jobs.get(job.key)
        if known is None:
            continue  # it ended since
        history, said = known.history, job.declared
        found.append(
            PageJob(
                job.key, said.name, job.app.user, job.app.name, said.estimator, said.group, known.life.state,
                known.weight, round(job.granted or 0.0, 3),
                history.latest_iteration if len(history) else None, history.latest_loss if len(history) else None,
                None if job.standing is None else round(job.standing.reached, 4), history.diverged,
                round(known.attained_core_s, 1), job.began_at, said.ml and not said.unstoppable,
                said.weight if job.weight is None else job.weight,
            )
        )  # fmt: skip
    return found


def _title(job: LiveJob) -> str:
    return job.declared.name or job.declared.estimator or job.key


def _user(scheduler: Scheduler, name: str, sums: Sequence[float]) -> PageUser:
    standing = scheduler.config.standing(name)
    most = standing.max_cores if math.isfinite(standing.max_cores) else None
    jobs, waiting, cores, core_s = sums
    return PageUser(
        name, int(jobs), int(waiting), cores, core_s, standing.weight, standing.reserved_cores, most
    )  # fmt: skip

"""A training job as a script: driver pauses, stages and their tasks, and where its losses became known."""

from bisect import bisect_right
from itertools import accumulate

from msgspec import Struct

SHARES = (0.90, 0.95)
"""Milestones before the end, as shares of a job's own loss reduction."""


class Step(Struct, frozen=True, array_like=True):
    """A pause of the driver, then a stage: the seconds that each of its tasks holds a slot."""

    pause_s: float
    tasks_s: tuple[float, ...]


class Shown(Struct, frozen=True, array_like=True):
    """A loss: known `after_s` into the pause that follows so many steps."""

    steps: int
    after_s: float
    loss: float


class Script(Struct, frozen=True):
    """One job. Times are seconds; `arrival_s` is counted from the stream's begin."""

    name: str
    arrival_s: float
    steps: tuple[Step, ...]
    losses: tuple[Shown, ...]
    rest_s: float = 0.0
    """From its last task to its end."""
    pool: str = ""
    """Its name under Spark's FAIR."""
    estimator: str = ""
    max_iterations: int | None = None

    def work_after(self) -> tuple[float, ...]:
        """Core-seconds of the first 0, 1, 2 … steps."""
        return tuple(accumulate((sum(step.tasks_s) for step in self.steps), initial=0.0))

    def reached(self, share: float) -> int:
        """The place of the first loss that has this share of the whole reduction; -1: the loss never fell."""
        if not self.losses or not self.losses[0].loss > self.losses[-1].loss:
            return -1
        first, last = self.losses[0].loss, self.losses[-1].loss
        goal = first - share * (first - last)
        # The last loss may miss its own goal by a rounding error.
        return next((at for at, shown in enumerate(self.losses) if shown.loss <= goal), len(self.losses) - 1)

    def milestones(self) -> tuple[float, ...]:
        """Core-seconds until 90 %, 95 % and the end."""
        work = self.work_after()
        places = [self.reached(share) for share in SHARES]
        return (*(work[-1] if at < 0 else work[self.losses[at].steps] for at in places), work[-1])


def script(
    name: str,
    arrival_s: float,
    ended_s: float,
    stages: "list[tuple[float, tuple[float, ...], tuple[float, ...]]]",
    losses: "list[tuple[float, float]]",
    pool: str = "",
    estimator: str = "",
    max_iterations: int | None = None,
) -> Script:
    """The script of a job that ran: `stages` are (submitted, tasks launched, tasks finished), `losses` (at, loss).

    What a task waited for a slot is left out, the time it held one is kept. Stages of one job that overlapped follow
    one another.
    """
    steps, over = [], [arrival_s]
    for submitted_s, launched_s, finished_s in stages:
        steps.append(
            Step(
                max(submitted_s - over[-1], 0.0),
                tuple(end - begin for begin, end in zip(launched_s, finished_s, strict=True)),
            )
        )
        over.append(max(over[-1], *finished_s))
    shown = []
    for at_s, loss in losses:
        place = max(bisect_right(over, at_s) - 1, 0)
        shown.append(Shown(place, max(at_s - over[place], 0.0), loss))
    rest_s = max(ended_s - over[-1], 0.0)
    return Script(name, arrival_s, tuple(steps), tuple(shown), rest_s, pool or name, estimator, max_iterations)

"""The reports of one job until the scheduler has them, in bounded memory."""

from collections import deque
from collections.abc import Iterable
from itertools import islice

from slaq.protocol import Declaration, Ended, JobBeat, Report
from slaq.protocol.beat import MAX_REPORTS


class JobBuffer:
    """A job's declaration, its latest reports, and what of it the scheduler has.

    Not thread-safe: the agent holds its lock around every call.
    """

    __slots__ = (
        "_sent",
        "_window",
        "asked",
        "declaration",
        "declared",
        "dropped",
        "due_core_s",
        "ended",
        "held_core_s",
        "id",
        "idle",
        "made",
    )

    def __init__(self, job_id: str, declaration: Declaration) -> None:
        self.id = job_id
        self.declaration = declaration
        self.declared = False
        self.ended: Ended | None = None
        self.idle = False
        self.held_core_s: float | None = None
        self.due_core_s: float | None = None
        self.made = 0
        """Reports made so far; the next one gets this number."""
        self.dropped = 0
        self.asked = False
        """The scheduler asked for the declaration although it was just sent: it does not want this job."""
        self._sent = 0
        self._window: deque[Report] = deque(maxlen=MAX_REPORTS)

    def add(self, report: Report) -> None:
        """Keep a report until it is sent; of too many the oldest go."""
        if len(self._window) == MAX_REPORTS and self.made - MAX_REPORTS >= self._sent:
            self.dropped += 1
        self._window.append(report)
        self.made += 1

    def beat(self, most: int) -> JobBeat:
        """The next message about this job, with at most so many reports."""
        oldest = self.made - len(self._window)
        first = max(self._sent, oldest)
        reports = list(islice(self._window, first - oldest, first - oldest + most))
        done = first + len(reports) == self.made
        declaration = None if self.declared else self.declaration
        ended = self.ended if done else None
        return JobBeat(self.id, declaration, first, reports, ended, self.idle, self.held_core_s, self.due_core_s)

    def arrived(self, sent: JobBeat) -> None:
        """The scheduler has what was sent."""
        self._sent = max(self._sent, sent.first + len(sent.reports))
        # A declaration that changed in the meantime has to go as well.
        self.declared = self.declared or sent.declared is self.declaration
        self.asked = False

    def again(self, first: int, sent: JobBeat) -> None:
        """The scheduler does not know the job: declare it, and send the reports from this number on."""
        oldest = self.made - len(self._window)
        # Asked for more than was sent, it may want the job as soon as it has it all.
        self.asked = sent.declared is not None and max(first, oldest) >= sent.first
        self.declared = False
        self._sent = min(max(first, 0), self.made)

    @property
    def waiting(self) -> bool:
        """Whether there is something the scheduler has not got and did not refuse."""
        return not self.asked and (not self.declared or self._sent < self.made)


def batches(buffers: Iterable[JobBuffer], jobs: int, reports: int) -> list[list[JobBeat]]:
    """The messages about all jobs, in lists of at most so many jobs and reports; at least one list."""
    found: list[list[JobBeat]] = [[]]
    room = reports
    for buffer in buffers:
        if len(found[-1]) == jobs or not room:
            found.append([])
            room = reports
        message = buffer.beat(min(room, MAX_REPORTS))
        room -= len(message.reports)
        found[-1].append(message)
    return found

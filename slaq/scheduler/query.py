"""A question for a list of jobs."""

from dataclasses import dataclass

from slaq.protocol import JobView
from slaq.records import ENDINGS, LIVING
from slaq.scheduler.refusal import RefusalError

STATES = (*LIVING, *ENDINGS)


@dataclass(frozen=True, slots=True)
class JobQuery:
    """Which jobs, in what order, and which page of them."""

    user: str | None = None
    """Whose jobs; None: everyone's."""
    states: tuple[str, ...] = STATES
    sort: str = "-began_at"
    """A field of JobView, with a leading `-` for descending."""
    limit: int = 100
    offset: int = 0

    def __post_init__(self) -> None:
        if strange := [name for name in self.states if name not in STATES]:
            raise RefusalError(f"unknown state {strange[0]!r}; choose from active, {', '.join(STATES)}")
        if self.sort.removeprefix("-") not in JobView.__struct_fields__:
            raise RefusalError(f"cannot sort by {self.sort!r}; choose one of {', '.join(JobView.__struct_fields__)}")

    def page(self, jobs: list[JobView]) -> list[JobView]:
        """The jobs in order, this page of them; absent values come last in either direction."""
        field = self.sort.removeprefix("-")
        known = [job for job in jobs if getattr(job, field) is not None]
        known.sort(key=lambda job: getattr(job, field), reverse=self.sort.startswith("-"))
        known += [job for job in jobs if getattr(job, field) is None]
        return known[self.offset : self.offset + self.limit]

"""`with slaq.search(name)`: a search in a loop of one's own; its fits are one group, its candidates race."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import SupportsFloat

from slaq.errors import SlaqError
from slaq.sdk.jobs import job, should_stop
from slaq.tuning.race import hopeless

KEEP = 1 / 3
"""The share of candidates that go on at each step: the usual factor of successive halving."""


class SearchCandidate:
    """One candidate; what it reports is compared with what the others reported at the same step."""

    def __init__(self, search: "LoopSearch", name: str) -> None:
        self._search, self.name = search, name
        self._step, self._hopeless = -1, False

    def report(self, metric: SupportsFloat, step: int | None = None) -> None:
        """Its metric on validation data; steps count by themselves unless numbered."""
        value = float(metric)
        self._step = self._step + 1 if step is None else step
        self._hopeless = self._search._is_hopeless(self._step, value)

    def should_stop(self) -> bool:
        """Whether going on is hopeless, or its job should end for another reason (`slaq.should_stop`)."""
        return self._hopeless or should_stop()


class LoopSearch:
    """A search; candidates may run one after the other or in threads."""

    def __init__(self, name: str, keep: float, higher_is_better: bool) -> None:
        self.name, self._keep, self._higher = name, keep, higher_is_better
        self._reported: dict[int, list[float]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def candidate(self, name: str) -> Iterator[SearchCandidate]:
        """Open a candidate in this thread: a `slaq.job` in the search's group."""
        with job(name, group=self.name):
            yield SearchCandidate(self, name)

    def _is_hopeless(self, step: int, value: float) -> bool:
        with self._lock:
            others = self._reported.setdefault(step, [])
            answer = hopeless(value, others, self._keep, self._higher)
            others.append(value)
        return answer


@contextmanager
def search(name: str, *, keep: float = KEEP, higher_is_better: bool = False) -> Iterator[LoopSearch]:
    """Search in a loop of one's own: `with slaq.search("sweep") as search:` and, in it, `search.candidate(…)`.

    A candidate whose reported metric is not among the best `keep` of those at the same step is told to stop
    (asynchronous successive halving); the first to reach a step goes on.
    """
    if not isinstance(name, str) or not name.strip():
        raise SlaqError(f"{name!r} cannot name a search; give a text")
    if not 0 < keep <= 1:
        raise SlaqError(f"search {name!r}: keep is {keep!r}; give a number above 0, up to 1")
    yield LoopSearch(name, keep, higher_is_better)

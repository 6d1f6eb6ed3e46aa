"""Numbered events, each applied once: whatever is delivered again after a failure is recognised by its number."""

from collections.abc import Callable, Iterable
from typing import Protocol

from slaq.driver.notices import log, once
from slaq.spark.records import FitEvent


class Mailbox(Protocol):
    """Where the events of jobs that report their own losses wait until they are acknowledged."""

    def read(self) -> list[FitEvent]:
        """Every event that is not acknowledged yet, oldest first."""

    def acknowledge(self, seq: int) -> None:
        """The events up to this number were applied and need not come again."""


class Inbox:
    """What was applied of one source of events."""

    def __init__(self) -> None:
        self.applied = 0
        """Everything up to this number was applied; what to acknowledge."""

    def apply(self, events: Iterable[FitEvent], handle: Callable[[FitEvent], None]) -> None:
        """Handle the events that are new. One that raises costs itself only: it is logged, counted and skipped."""
        for event in events:
            if event.seq <= self.applied:
                continue
            try:
                handle(event)
            except Exception as error:
                once("event", "an event of job %s was skipped (%r); the others are not affected", event.job, error)
                log.debug("SLAQ: the event that was skipped: %r", event, exc_info=True)
            self.applied = event.seq

    def complete(self, seq: int) -> None:
        """Nothing up to this number is missing."""
        self.applied = max(self.applied, seq)

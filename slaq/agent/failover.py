"""Several schedulers, of which one works and the others stand by: beats go to whichever answers."""

from collections.abc import Sequence

from slaq.agent.transport import Transport, UnreachableError
from slaq.protocol import Answer, Beat


class Failover:
    """Transports in the order in which they are tried, beginning with the one that answered last.

    The agent ignores answers of a scheduler that was replaced, by its incarnation number, so it does not matter if one
    that was thought dead answers again.
    """

    def __init__(self, transports: Sequence[Transport]) -> None:
        self._transports = list(transports)
        self._now = 0

    def exchange(self, beat: Beat) -> Answer:
        """See Transport.exchange. A refusal counts as an answer; if nobody is there, the errors of all are told."""
        errors: list[str] = []
        for _ in self._transports:
            try:
                return self._transports[self._now].exchange(beat)
            except UnreachableError as error:
                errors.append(str(error))
                self._now = (self._now + 1) % len(self._transports)
        raise UnreachableError("; ".join(errors))

    def abort(self) -> None:
        """See Transport.abort."""
        self._transports[self._now].abort()

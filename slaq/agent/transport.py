"""How a beat gets to a scheduler: over HTTP, or by a call when the scheduler runs in this process."""

from collections.abc import Callable
from typing import Protocol

from slaq.errors import SlaqError
from slaq.protocol import Answer, Beat

_REJECTED = (400, 413)
_REFUSED = (401, 403, 404, 405, 415, 426)


class UnreachableError(SlaqError):
    """There was no usable answer: nobody there, too slow, garbage, or an error on the other side."""


class RefusedError(SlaqError):
    """The scheduler understood and said no: another version, a wrong token, too many jobs."""


class RejectedError(RefusedError):
    """The scheduler refused this message itself; sending it again is of no use."""


def refusal(status: int, said: str) -> SlaqError:
    """What it means that a scheduler answers with this HTTP status instead of 200."""
    if status in _REJECTED:
        return RejectedError(said)
    return RefusedError(said) if status in _REFUSED else UnreachableError(said)


class Transport(Protocol):
    """One beat there, one answer back."""

    def exchange(self, beat: Beat) -> Answer:
        """The answer to a beat; raises UnreachableError or RefusedError."""

    def abort(self) -> None:
        """End an exchange that is under way in another thread; it raises UnreachableError there."""


class Direct:
    """A scheduler in this process."""

    def __init__(self, call: Callable[[Beat], Answer]) -> None:
        self._call = call

    def exchange(self, beat: Beat) -> Answer:
        """See Transport.exchange."""
        try:
            return self._call(beat)
        except SlaqError as error:
            raise refusal(getattr(error, "status", 400), str(error)) from error

    def abort(self) -> None:
        """See Transport.abort; a call in this process cannot be ended early and does not hang."""

"""Why the scheduler refuses a request; each kind has its HTTP status."""

from slaq.errors import SlaqError


class RefusalError(SlaqError):
    """The request makes no sense."""

    status = 400


class UnauthorisedError(RefusalError):
    """The token is not known."""

    status = 401


class ForbiddenError(RefusalError):
    """It belongs to another user."""

    status = 403


class UnknownJobError(RefusalError):
    """There is no such job, or none that this user may know of."""

    status = 404


class OverError(RefusalError):
    """The job is over."""

    status = 409


class UnstoppableError(RefusalError):
    """The job cannot be ended early with the model it has."""

    status = 409


class VersionError(RefusalError):
    """The other side speaks another version of the protocol."""

    status = 426


class UndecidedError(RefusalError):
    """There was no decision for so long that the grants of the last one are void."""

    status = 503


class TooManyError(RefusalError):
    """More than the limits of the configuration allow."""

    status = 429

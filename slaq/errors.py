"""The one tree of errors a caller may see; each message names the value and the remedy."""


class SlaqError(Exception):
    """Anything SLAQ refuses to do; printed to users without a stack trace."""

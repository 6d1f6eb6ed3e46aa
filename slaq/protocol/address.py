"""Where a scheduler listens."""

from urllib.parse import SplitResult, urlsplit


def address_parts(address: str) -> SplitResult | None:
    """The parts of an http or https address; None if it is none."""
    try:
        parts = urlsplit(address)
        _ = parts.port  # is looked at only now, and may be wrong
    except ValueError:
        return None
    return parts if parts.scheme in ("http", "https") and parts.hostname else None

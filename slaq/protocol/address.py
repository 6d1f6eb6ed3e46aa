"""Addresses of schedulers."""

from urllib.parse import SplitResult, urlsplit

DRIVER_PORTS = 16
"""The page of a driver is on one of so many ports after the scheduler's."""


def address_parts(address: str) -> SplitResult | None:
    """The parts of an http or https address; None for anything else."""
    try:
        parts = urlsplit(address)
        _ = parts.port  # raises ValueError if it is not a port
    except ValueError:
        return None
    return parts if parts.scheme in ("http", "https") and parts.hostname else None

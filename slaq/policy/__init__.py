"""Policies: pure functions from a snapshot to cores and reasons, found by name."""

from slaq.errors import SlaqError
from slaq.policy import fair, fifo, finish_line, max_min, max_total
from slaq.policy.base import Policy

_POLICIES = {
    policy.name: policy
    for policy in (
        Policy("fair", fair.allocate),
        Policy("fifo", fifo.allocate),
        Policy("max-total", max_total.allocate),
        Policy("finish-line", finish_line.allocate),
        Policy("max-min", max_min.allocate),
    )
}


def get(name: str) -> Policy:
    """The policy of that name; `get(name).allocate(snapshot)` decides."""
    if name not in names():
        raise SlaqError(f"unknown policy {name!r}; choose one of {', '.join(names())}")
    return _POLICIES[name]


def names() -> list[str]:
    """The names `get` knows."""
    return sorted(_POLICIES)


__all__ = ["Policy", "get", "names"]

"""Policies: pure functions from a snapshot and a memory to cores and reasons, found by name.

To add one, write a file with its function and a line in `_BUILT_IN`. A package of one's own registers a `Policy` under
the entry point group `slaq.policies`.
"""

from functools import cache
from importlib.metadata import entry_points

from slaq.errors import SlaqError
from slaq.policy import fair, fifo, finish_line, least_attained, max_min, max_total, oasis, shortest_remaining
from slaq.policy.base import Policy, stateless
from slaq.policy.lateness import Served

ENTRY_POINTS = "slaq.policies"

_BUILT_IN = {
    policy.name: policy
    for policy in (
        stateless("fair", fair.allocate),
        stateless("fifo", fifo.allocate),
        Policy("finish-line", finish_line.allocate, Served()),
        stateless("least-attained", least_attained.allocate),
        stateless("max-min", max_min.allocate),
        stateless("max-total", max_total.allocate),
        Policy("oasis", oasis.allocate, oasis.Memory()),
        stateless("shortest-remaining", shortest_remaining.allocate),
    )
}


def get(name: str) -> Policy:
    """The policy of that name; `get(name).allocate(snapshot, memory)` decides."""
    found = _BUILT_IN.get(name) or _installed().get(name)
    if found is None:
        raise SlaqError(f"unknown policy {name!r}; choose one of {', '.join(names())}")
    return found


def names() -> list[str]:
    """The names `get` knows."""
    return sorted({*_BUILT_IN, *_installed()})


@cache
def _installed() -> dict[str, Policy]:
    """The policies of other packages; a name of ours stays ours."""
    found = {}
    for entry in entry_points(group=ENTRY_POINTS):
        try:
            policy = entry.load()
        except Exception as error:
            raise SlaqError(f"policy {entry.name!r} ({entry.value}) cannot be loaded: {error}") from error
        if not isinstance(policy, Policy) or policy.name != entry.name:
            raise SlaqError(f"{entry.value} is not a slaq.policy.Policy named {entry.name!r}")
        found[policy.name] = policy
    return found


__all__ = ["Policy", "get", "names", "stateless"]

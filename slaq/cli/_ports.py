"""The ports of a set of local daemons: as asked for, where 0 stands for any free one, and as started."""

from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from slaq.cli._processes import free_port, is_free
from slaq.errors import SlaqError

S = TypeVar("S", bound=Struct)


def with_ports(spec: S) -> S:
    """The spec with a free port for every 0 in a field named `…_port`; a SlaqError if a given one is taken."""
    names = [name for name in spec.__struct_fields__ if name.endswith("_port")]
    for name in names:
        port = getattr(spec, name)
        if port and not is_free(port):
            raise SlaqError(f"port {port} is taken; give another --{name.replace('_', '-')}, or 0 for a free one")
    return replace(spec, **{name: getattr(spec, name) or free_port() for name in names})


def as_asked(there: S, asked: S) -> bool:
    """Whether what runs is what is asked for; a port of 0 fits any, and so do no ports at all."""
    names = [name for name in asked.__struct_fields__ if name.endswith(("_port", "_ports"))]
    return replace(asked, **{name: getattr(there, name) for name in names if not getattr(asked, name)}) == there

"""`slaq bench chaos`: faults drawn from a seed, and what must hold all the same.

`plan` draws the faults, `run` injects them and gathers the evidence, `checks` judge it.
"""

from slaq.bench.chaos.program import command

__all__ = ["command"]

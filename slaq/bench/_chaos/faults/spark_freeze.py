"""SIGSTOP and SIGCONT in Spark: sidecars, the Python of drivers, executors, the standalone master."""

import os
import signal
from contextlib import suppress
from random import Random

from slaq.bench._chaos.faults.kind import FaultKind, Mend
from slaq.bench._chaos.plan import Kind
from slaq.bench._chaos.spark_side import APPLICATIONS
from slaq.bench._chaos.world import World


def _freeze(world: World, _chance: Random, part: str) -> Mend:
    assert world.spark is not None
    pids = world.spark.pids(part)
    _signal(pids, signal.SIGSTOP)
    return lambda: _signal(pids, signal.SIGCONT)


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


KINDS = [
    *(
        FaultKind(Kind("freeze sidecar", f"sidecar {name}", (0.5, 6.0), (f"driver {name}",)), _freeze)
        for name in APPLICATIONS
    ),
    *(FaultKind(Kind("freeze driver Python", f"driver {name}", (0.5, 4.0)), _freeze) for name in APPLICATIONS),
    FaultKind(Kind("freeze executor", "executor", (0.5, 4.0)), _freeze, loosens=False),
    FaultKind(Kind("freeze master", "master", (0.5, 4.0)), _freeze, loosens=False),
]

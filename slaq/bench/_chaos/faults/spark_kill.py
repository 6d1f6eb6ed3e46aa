"""kill -9 in Spark: sidecars, the Python of drivers, executors, the standalone master."""

import os
import signal
import time
from contextlib import suppress
from random import Random

from slaq.bench._chaos.faults.kind import FaultKind, Mend, nothing
from slaq.bench._chaos.plan import Kind
from slaq.bench._chaos.spark_side import APPLICATIONS
from slaq.bench._chaos.world import World, await_true

GONE_S = 30.0
"""The JVM of a driver ends with its Python."""


def kill(world: World, part: str) -> list[int]:
    """Kill the processes of a part; those that were there."""
    assert world.spark is not None
    pids = world.spark.pids(part)
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return pids


def _sidecar(world: World, _chance: Random, part: str) -> Mend:
    if kill(world, part):
        world.cut_off.setdefault(part.partition(" ")[2], []).append(time.monotonic())
    return nothing


def _executor(world: World, chance: Random, part: str) -> Mend:
    assert world.spark is not None
    pids = world.spark.pids(part)
    if pids:
        with suppress(ProcessLookupError):
            os.kill(chance.choice(pids), signal.SIGKILL)
    return nothing


def _driver(world: World, _chance: Random, part: str) -> Mend:
    name = part.partition(" ")[2]
    assert world.spark is not None
    program = world.spark.drivers[name]
    if not kill(world, part):
        return nothing
    world.cut_off.setdefault(name, []).append(time.monotonic())

    def mend() -> None:
        if not await_true(lambda: not program.alive, GONE_S):
            world.surprises.append(f"the JVM of {program.name} outlived its Python for {GONE_S:.0f} s")
            program.kill()
        program.start()

    return mend


def _master(world: World, _chance: Random, _part: str) -> Mend:
    assert world.spark is not None
    world.spark.master.kill()
    return world.spark.master.start


KINDS = [
    *(
        FaultKind(Kind("kill sidecar", f"sidecar {name}", (0.0, 3.0), (f"driver {name}",)), _sidecar)
        for name in APPLICATIONS
    ),
    *(FaultKind(Kind("kill driver Python", f"driver {name}", (0.5, 3.0)), _driver) for name in APPLICATIONS),
    FaultKind(Kind("kill executor", "executor"), _executor, loosens=False),
    FaultKind(Kind("kill master", "master", (0.5, 4.0)), _master, loosens=False),
]

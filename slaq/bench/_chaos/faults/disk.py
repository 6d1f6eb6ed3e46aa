"""A disk that takes nothing: full, read-only, or with a limit to the size of files."""

from random import Random

from slaq.bench._chaos.faults.kind import FaultKind, Mend, nothing
from slaq.bench._chaos.plan import Kind
from slaq.bench._chaos.volume import may_mount
from slaq.bench._chaos.world import World

REFUSAL = b"scheduler.state_dir"
"""What a scheduler that cannot use its folder has to name."""


def _full(world: World, _chance: Random, _part: str) -> Mend:
    world.volume.fill()
    return world.volume.drain


def _limited(world: World, chance: Random, _part: str) -> Mend:
    world.scheduler.limit_files(chance.choice((0, 4096, 40_000)))
    return lambda: world.scheduler.limit_files(None)


def _read_only(world: World, _chance: Random, _part: str) -> Mend:
    """A scheduler that starts on a read-only folder says so and ends; its supervisor tries again."""
    world.scheduler.kill()
    if not world.volume.make(writable=False):
        return lambda: _start(world)
    before = world.scheduler.log.stat().st_size
    if world.start_scheduler():
        world.surprises.append("a scheduler started in a folder that it cannot write to")
    elif REFUSAL not in world.scheduler.log.read_bytes()[before:] or _code(world) != 2:
        world.note_exit(world.scheduler)

    def mend() -> None:
        world.volume.make(writable=True)
        _start(world)

    return mend


def _start(world: World) -> None:
    if not world.scheduler.alive and not world.start_scheduler():
        world.note_exit(world.scheduler)


def _code(world: World) -> int | None:
    assert world.scheduler.process is not None
    return world.scheduler.process.poll()


def _away(world: World, _chance: Random, _part: str) -> Mend:
    """The database is deleted under the running scheduler, as by a script that tidies up."""
    for file in world.volume.folder.glob("history.db*"):
        file.unlink()
    world.lose_history()
    return nothing


KINDS = [
    FaultKind(Kind("full disk", "disk", (0.5, 4.0)), _full, loosens=False, possible=may_mount),
    FaultKind(Kind("file size limit", "disk", (0.5, 4.0)), _limited, loosens=False),
    FaultKind(
        Kind("read-only folder", "scheduler", (0.1, 1.0), ("disk", "database", "log")), _read_only, possible=may_mount
    ),
    FaultKind(Kind("deleted database", "database"), _away, loosens=False),
]

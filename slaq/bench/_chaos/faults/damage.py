"""Bytes that were never written: in the database and in the decision log, under a running scheduler or a dead one."""

from pathlib import Path
from random import Random

from slaq.bench._chaos.faults.kind import FaultKind, Mend, nothing
from slaq.bench._chaos.plan import Kind
from slaq.bench._chaos.world import World


def scribble(file: Path, chance: Random) -> None:
    """Overwrite a part of a file, cut it in two, or fill it with something else."""
    size = file.stat().st_size
    how = chance.choice(("head", "middle", "cut", "all"))
    with file.open("r+b") as content:
        if how == "cut":
            content.truncate(size // 2)
            return
        content.seek(0 if how != "middle" else size // 2)
        content.write(chance.randbytes(size if how == "all" else min(2048, size // 2)))


def _database(world: World, chance: Random, _part: str) -> Mend:
    if world.database.exists():
        scribble(world.database, chance)
        world.note_damage()
    return nothing


def _dead_database(world: World, chance: Random, part: str) -> Mend:
    world.scheduler.kill()
    _database(world, chance, part)

    def mend() -> None:
        if not world.start_scheduler():
            world.note_exit(world.scheduler)

    return mend


def _log(world: World, chance: Random, _part: str) -> Mend:
    files = sorted(world.volume.folder.glob("decisions-*.log"))
    if files:
        file = chance.choice(files)
        scribble(file, chance)
        world.damaged_logs.add(file.name)
    return nothing


KINDS = [
    FaultKind(Kind("damaged database", "database"), _database, loosens=False),
    FaultKind(Kind("damaged database at start", "scheduler", (0.0, 0.5)), _dead_database),
    FaultKind(Kind("damaged log", "log"), _log, loosens=False),
]

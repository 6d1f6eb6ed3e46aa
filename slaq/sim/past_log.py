"""A decision log by the time of day: which epochs fell into a time, and the engine's state before them.

The log knows the clock of the scheduler only. A file was last written when its last epoch ended, which ties that clock
to the time of day, also after a restart of the machine.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from msgspec.structs import replace

from slaq.engine import Allocated, EpochEnded, JobEnded, State, log, run
from slaq.engine.log import Epoch
from slaq.errors import SlaqError

BEFORE_EPOCHS = 2
"""Pieces before the first epoch: the header and the state."""


@dataclass
class LogFile:
    """One file of a log; it replays by itself."""

    path: Path
    source: BinaryIO
    places: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.places = log.places(self.source)[BEFORE_EPOCHS:]

    def epoch(self, number: int) -> Epoch:
        """One epoch, the first being 0."""
        return log.epoch_at(self.source, self.places[number], str(self.path))

    def readable(self) -> bool:
        """Whether there is an epoch in it, and this version of SLAQ reads it."""
        try:
            self.source.seek(0)
            log.read(self.source, str(self.path))
            return bool(self.places) and self.at(0) > 0.0
        except SlaqError:
            return False

    @property
    def life(self) -> str:
        """The scheduler that wrote it: its clock goes on from file to file."""
        return self.path.stem.split("-")[1]

    def at(self, number: int) -> float:
        """When this epoch ended, by the time of day."""
        return self._shift_s + end_s(self.epoch(number))

    def find(self, at: float) -> int:
        """The first epoch that did not end before this time; their number if there is none."""
        return bisect_left(range(len(self.places)), at, key=self.at)

    def state_before(self, number: int) -> State:
        """The engine's state when this epoch began."""
        self.source.seek(0)
        state, epochs = log.read(self.source, str(self.path))
        for _, epoch in zip(range(number), epochs, strict=False):
            state = passed(state, epoch)
        return state

    @cached_property
    def _shift_s(self) -> float:
        return self.path.stat().st_mtime - end_s(self.epoch(len(self.places) - 1))


@dataclass(frozen=True)
class Stretch:
    """The epochs of one file in a time."""

    file: LogFile
    first: int
    after: int
    """The number of the first one that is no longer in it."""

    def __len__(self) -> int:
        return self.after - self.first

    def epochs(self, most: int | None = None) -> Iterator[tuple[float, Epoch]]:
        """When each ended, and the epoch; of more than `most` an even choice."""
        step = 1 if most is None else max(-(-len(self) // most), 1)
        for number in range(self.first, self.after, step):
            epoch = self.file.epoch(number)
            yield self.file._shift_s + end_s(epoch), epoch


class PastLog:
    """The files of a scheduler's folder that can be read, oldest first; a context manager that closes them."""

    def __init__(self, folder: Path) -> None:
        found = sorted(folder.glob("decisions-*-*.log"), key=lambda path: path.stat().st_mtime)
        self._sources = [path.open("rb") for path in found]
        files = [LogFile(path, source) for path, source in zip(found, self._sources, strict=True)]
        self.files = [file for file in files if file.readable()]
        if not self.files:
            raise SlaqError("there is nothing in the decision log yet; wait for the next decision")

    @property
    def begins_at(self) -> float:
        """When the oldest epoch ended."""
        return self.files[0].at(0)

    @property
    def ends_at(self) -> float:
        """When the newest epoch ended."""
        return self.files[-1].at(len(self.files[-1].places) - 1)

    def stretches(self, from_at: float, until_at: float) -> list[Stretch]:
        """The epochs of a time, file by file."""
        found = [Stretch(file, file.find(from_at), file.find(until_at)) for file in self.files]
        return [stretch for stretch in found if len(stretch) > 0]

    def __enter__(self) -> "PastLog":
        return self

    def __exit__(self, *_: object) -> None:
        for source in self._sources:
            source.close()


def end_s(epoch: Epoch) -> float:
    """When an epoch ended, by the scheduler's clock."""
    return epoch.events[-1].now_s


def passed(state: State, epoch: Epoch) -> State:
    """The state after an epoch: what happened is applied, what was decided is taken from the log, not decided anew.

    Policies that remember begin with nothing remembered.
    """
    state, _ = run(state, [event for event in epoch.events if not isinstance(event, EpochEnded)])
    jobs = dict(state.jobs)
    for effect in epoch.effects:
        if isinstance(effect, JobEnded) and effect.job.life.state == "lost":  # the lease is looked at with the decision
            jobs.pop(effect.job.id, None)
        elif isinstance(effect, Allocated):
            cores = effect.decision.cores
            jobs = {key: replace(job, cores=cores.get(key, 0.0)) for key, job in jobs.items()}
    now_s = end_s(epoch)
    return replace(state, jobs=jobs, epoch=state.epoch + 1, decided_s=now_s, now_s=now_s, memory=None)

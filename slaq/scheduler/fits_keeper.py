"""Keeps what the fits of a driver took in the user's cache, on a thread of its own: no job ever waits for it."""

import logging
import os
import queue
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

from slaq.config import Config
from slaq.model import PastFit
from slaq.scheduler.core import Scheduler
from slaq.scheduler.experience import OFF
from slaq.scheduler.store.fits_file import DamagedError, FitsFile

log = logging.getLogger(__name__)

ON = "on"
MOST_WAITING = 1000
LEAVE_S = 2.0


class FitsKeeper:
    """Reads the file once, when it is made, and appends every fit that ends."""

    def __init__(self, file: Path, scheduler: Scheduler) -> None:
        self._path, self._file, self._scheduler = file, FitsFile(file), scheduler
        self._waiting: queue.SimpleQueue[PastFit | None] = queue.SimpleQueue()
        self._warned = False
        scheduler.experience.keep = self._keep
        self._thread = threading.Thread(target=self._run, name="slaq-past-fits", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Write what is waiting, as far as the disk takes it in time."""
        self._waiting.put(None)
        self._thread.join(LEAVE_S)

    def _keep(self, fit: PastFit) -> None:
        if self._waiting.qsize() < MOST_WAITING:
            self._waiting.put(fit)

    def _run(self) -> None:
        self._guarded(self._read)
        waiting: list[PastFit | None] = []
        while None not in waiting:
            waiting.append(self._waiting.get())
            while not self._waiting.empty():
                waiting.append(self._waiting.get())
            fits = [fit for fit in waiting if fit is not None][-MOST_WAITING:]
            if not fits or self._guarded(partial(self._file.append, fits)):
                fits = []
            waiting = [*fits, None] if None in waiting else [*fits]

    def _read(self) -> None:
        self._scheduler.remember(self._file.read())

    def _guarded(self, work: Callable[[], None]) -> bool:
        """Whether it succeeded; the first failure is logged. A damaged file was moved away, so work begins anew."""
        try:
            try:
                work()
            except DamagedError as error:
                log.warning("SLAQ: %s; what fits take is learned anew", error)
                work()
        except Exception as error:  # a file that cannot be written must not end the thread
            level = logging.DEBUG if self._warned else logging.WARNING
            self._warned = True
            log.log(level, "SLAQ: cannot keep what fits take in %s, training goes on without: %s", self._path, error)
            return False
        return True


def keeper(config: Config, scheduler: Scheduler) -> FitsKeeper | None:
    """The keeper of a driver's own scheduler; None where nothing is to be kept."""
    if config.scheduler.archive == OFF:
        return None
    return FitsKeeper(fits_path(config.scheduler.archive), scheduler)


def fits_path(archive: str) -> Path:
    """The file that `scheduler.archive` names; `on` is the one in the user's cache."""
    if archive != ON:
        return Path(archive).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME", "")
    folder = Path(cache) if cache.startswith("/") else Path("~/.cache").expanduser()
    return folder / "slaq" / "fits.jsonl"

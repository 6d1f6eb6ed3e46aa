"""A scheduler that stands by: it takes over the state folder of another as soon as that one is gone.

The lock of the folder is the operating system's, so it goes with the process that held it, however that ended. Every
scheduler has a higher incarnation number than the one before: drivers and commands can tell which is the newer.
"""

import time
from collections.abc import Callable
from pathlib import Path

from slaq.config import Config
from slaq.errors import SlaqError
from slaq.scheduler.server import Server
from slaq.scheduler.store.files import FolderInUseError, lock

LOOK_S = 0.1
"""Between two looks at the lock: a small part of any lease."""
LEAVING_S = 10.0
"""A scheduler that has let go of its folder may take so long to let go of its port."""


def take_over(read: Callable[[], Config]) -> Server:
    """Wait until no other scheduler uses the folder, then be its scheduler, with the configuration of that moment."""
    free_s: float | None = None
    while True:
        config = read()
        _wait_for(Path(config.scheduler.state_dir))
        free_s = time.monotonic() if free_s is None else free_s
        try:
            return Server(read(), reload=read)
        except FolderInUseError:  # another one that stood by was faster
            free_s = None
        except SlaqError:
            if time.monotonic() - free_s > LEAVING_S:
                raise
            time.sleep(LOOK_S)


def _wait_for(folder: Path) -> None:
    while True:
        try:
            lock(folder).close()
        except FolderInUseError:
            time.sleep(LOOK_S)
        else:
            return

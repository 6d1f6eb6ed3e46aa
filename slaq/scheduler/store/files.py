"""The files of a scheduler's state folder: private, and used by one process at a time."""

import fcntl
import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, BinaryIO

from slaq.errors import SlaqError


class FolderInUseError(SlaqError):
    """Another scheduler uses the folder."""


def lock(folder: Path) -> IO[str]:
    """Claim the folder until the file is closed; a SlaqError if another scheduler uses it."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _check_owner(folder)
        file = (folder / "lock").open("a+")
    except OSError as error:
        raise SlaqError(f"cannot use {folder}: {error}; set scheduler.state_dir to a folder of your own") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise FolderInUseError(
            f"another scheduler uses {folder}; stop it, or give this one its own scheduler.state_dir"
        ) from None
    return file


def _check_owner(folder: Path) -> None:
    """Refuse a folder in which somebody else could put a link or another database in the place of ours."""
    found = folder.stat()
    if found.st_uid not in (os.geteuid(), 0):
        raise SlaqError(f"{folder} belongs to user {found.st_uid}; set scheduler.state_dir to a folder of your own")
    if found.st_mode & stat.S_IWOTH:
        raise SlaqError(f"everyone may write to {folder}; run: chmod o-w {folder}")


def make_private(file: Path) -> None:
    """Create the file readable by its owner only. SQLite gives the files beside it the same mode."""
    with suppress(OSError):  # SQLite reports the cause when it opens the file
        file.touch(0o600)
        file.chmod(0o600)


def new_private(file: Path) -> BinaryIO:
    """A new file that only its owner may read."""
    return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb")


def move_aside(file: Path) -> Path:
    """Make room for a new database; the damaged one stays beside it and replaces an earlier one."""
    aside = file.with_name(f"{file.name}.damaged-{int(time.time())}")
    for earlier in file.parent.glob(f"{file.name}.damaged-*"):
        earlier.unlink(missing_ok=True)
    for suffix in ("-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    file.rename(aside)
    return aside

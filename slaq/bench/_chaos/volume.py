"""The scheduler's state folder on a small file system of its own, where mounting is allowed."""

import os
import subprocess
from contextlib import suppress
from pathlib import Path

SIZE_MB = 16


class Volume:
    """A folder that may get full or read-only; without the right to mount it is a plain folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.mounted = _mount("-t", "tmpfs", "-o", f"size={SIZE_MB}m,mode=700", "slaq-chaos", str(folder))
        self._ballast = folder / "ballast"

    def fill(self) -> None:
        """Leave no space; what others free meanwhile is taken as well."""
        with suppress(OSError), self._ballast.open("ab", buffering=0) as out:
            while True:
                out.write(bytes(65536))
        with suppress(OSError), self._ballast.open("ab", buffering=0) as out:
            while True:
                out.write(bytes(1))

    def drain(self) -> None:
        """There is space again."""
        self._ballast.unlink(missing_ok=True)

    def make(self, writable: bool) -> bool:
        """Make it writable or read-only, while no process has a file open in it; whether it worked."""
        return _mount("-o", f"remount,{'rw' if writable else 'ro'}", str(self.folder))

    def close(self) -> None:
        """Unmount."""
        if self.mounted:
            subprocess.run(["umount", "-l", str(self.folder)], capture_output=True, check=False)
            self.mounted = False


def may_mount() -> bool:
    """Whether this user may mount at all."""
    return os.geteuid() == 0


def _mount(*arguments: str) -> bool:
    if not may_mount():
        return False
    with suppress(OSError):
        return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0
    return False

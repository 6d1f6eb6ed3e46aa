"""Every job that ended, as a line of JSON in a file: estimator, outcome and the loss curve."""

import threading
from pathlib import Path

import msgspec

from slaq.driver.notices import once
from slaq.driver.status import JobStatus


class Journal:
    """Appends to one file; a disk that is full or missing costs a warning and nothing else."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._lock = threading.Lock()

    def write(self, status: JobStatus) -> None:
        """Add one job."""
        try:
            with self._lock, self._path.open("ab") as file:
                file.write(msgspec.json.encode(status) + b"\n")
        except OSError as error:
            once("journal", "the journal %s cannot be written (%s)", self._path, error.strerror)


def read(path: Path) -> list[JobStatus]:
    """All jobs of a journal, in the order in which they ended."""
    return [msgspec.json.decode(line, type=JobStatus) for line in path.read_bytes().splitlines()]

"""Every job that ended, as a line of JSON in a file: estimator, outcome and the loss curve."""

import threading
from pathlib import Path

import msgspec

from slaq.driver.notices import once
from slaq.driver.status import JobStatus
from slaq.errors import SlaqError

_decode = msgspec.json.Decoder(JobStatus).decode


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
    """All jobs of a journal, in the order in which they ended; a SlaqError names the line that is none."""
    jobs = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            jobs.append(_decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise SlaqError(f"{path}:{number}: {error}; give a file that the key `journal` names") from None
    return jobs

"""How many cores there are to share out: a fixed number, what drivers' executors offer, or what the master says."""

import json
import threading
import urllib.request
from collections.abc import Iterable

from slaq.config import SchedulerConfig
from slaq.protocol import Capacity
from slaq.protocol.names import printable

MASTER_POLL_S = 5.0
MASTER_TIMEOUT_S = 3.0
LARGEST_PAGE = 16 * 1024 * 1024


class CapacitySource:
    """The capacity by the configuration; a master's page is read on a thread of its own."""

    def __init__(self, config: SchedulerConfig) -> None:
        self._config = config
        self._master = MasterPage(config.master_url) if config.capacity == "master" else None

    def now(self, offered: Iterable[float]) -> Capacity:
        """The cores now, given what each driver's executors offer."""
        if isinstance(self._config.capacity, int):
            return Capacity(self._config.capacity, "fixed")
        if self._master is not None:
            return Capacity(self._real(self._master.cores), "master", self._master.problem)
        return Capacity(self._real(sum(offered)), "drivers")

    def close(self) -> None:
        """Stop reading."""
        if self._master is not None:
            self._master.close()

    def _real(self, declared: float) -> int:
        """Declared cores that exist; a fraction of one counts, as long as there is any."""
        return max(round(declared / self._config.oversubscription), 1) if declared > 0 else 0


class MasterPage:
    """The cores of a standalone master's living workers, read again and again from its JSON page."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/") + "/json/"
        self.cores = 0
        """The latest known number; it stays in force while the master cannot be read."""
        self.problem = f"{self._url} was not read yet"
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="slaq-master-page", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop reading."""
        self._closed.set()

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                self.cores = living_cores(self._read())
                self.problem = ""
            except Exception as error:  # whatever the page holds, the last number stays in force
                self.problem = f"cannot read the master's cores from {self._url}: {printable(str(error))}"
            self._closed.wait(MASTER_POLL_S)

    def _read(self) -> bytes:
        with urllib.request.urlopen(self._url, timeout=MASTER_TIMEOUT_S) as response:
            page: bytes = response.read(LARGEST_PAGE)
            return page


def living_cores(page: bytes) -> int:
    """The cores of the living workers on a standalone master's JSON page."""
    workers = json.loads(page)["workers"]
    return sum(int(worker["cores"]) for worker in workers if worker["state"] == "ALIVE")

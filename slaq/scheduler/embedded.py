"""A scheduler inside a driver: the same engine on a thread, for an application that has no central one."""

import logging
import threading
import time

from slaq.agent import Direct
from slaq.config import Config
from slaq.scheduler.core import Scheduler
from slaq.scheduler.fits_keeper import keeper
from slaq.scheduler.pace import Pace

log = logging.getLogger(__name__)


class Embedded:
    """A scheduler and the thread that makes it decide; `transport` is the way to it for an agent."""

    def __init__(self, config: Config | None = None) -> None:
        config = config or Config()
        self.scheduler = Scheduler(config)
        self.transport = Direct(self.scheduler.beat)
        self._fits = keeper(config, self.scheduler)
        self._closed = threading.Event()
        self._pace = Pace(config.scheduler.epoch_s, time.monotonic() + config.scheduler.epoch_s)
        self.scheduler.expect_next(self._pace.due_s)
        self._thread = threading.Thread(target=self._run, name="slaq-scheduler", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop deciding; agents run on unthrottled when their lease is over."""
        self._closed.set()
        self._thread.join(timeout=5.0)
        self.scheduler.close()
        if self._fits is not None:
            self._fits.close()

    def _run(self) -> None:
        while not self._closed.wait(max(self._pace.due_s - time.monotonic(), 0.0)):
            try:
                self.scheduler.decide(self._pace.due_s)
            except Exception:  # the next epoch may succeed; otherwise the grants' leases run out
                log.exception("an epoch went without a decision")
            self.scheduler.expect_next(*self._pace.decided(time.monotonic()))

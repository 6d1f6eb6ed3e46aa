"""The page of a scheduler inside a driver: the same page on the loopback, served by a thread of its own."""

import asyncio
import logging
import socket
import threading
import time
from contextlib import suppress

import uvicorn
from msgspec.structs import replace

from slaq.config import Config
from slaq.errors import SlaqError
from slaq.protocol.address import DRIVER_PORTS
from slaq.scheduler.api import for_people
from slaq.scheduler.embedded import Embedded
from slaq.scheduler.guard import Guard
from slaq.scheduler.page.feed import MOST_STREAMS, Feed

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
CLOSE_S = 3.0


class DriverPage:
    """Serves the page until `close`; whatever goes wrong in it ends the page and nothing else.

    It takes no beats: the jobs are those of this driver. With a `token_file` it asks for that token.
    """

    def __init__(self, config: Config, embedded: Embedded) -> None:
        guarded = replace(config, scheduler=replace(config.scheduler, host=HOST), users={})
        self._embedded = embedded
        self._feed = Feed(embedded.scheduler)
        app = Guard(for_people(embedded.scheduler, self._healthy, self._feed), guarded)
        self._socket = _bound(config.scheduler.port)
        self.address = f"http://{HOST}:{self._socket.getsockname()[1]}/"
        self._http = uvicorn.Server(
            uvicorn.Config(
                app, http="httptools", ws="none", lifespan="off", interface="asgi3", access_log=False, log_config=None,
                log_level="error", server_header=False, date_header=False, proxy_headers=False,
                limit_concurrency=2 * MOST_STREAMS, timeout_graceful_shutdown=1,
            )
        )  # fmt: skip
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="slaq-page", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End all connections."""
        self._http.should_exit = True
        with suppress(RuntimeError):  # the loop is over
            self._loop.call_soon_threadsafe(self._feed.close)
        self._thread.join(CLOSE_S)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        except Exception:
            log.exception("the page at %s ended", self.address)
        finally:
            self._loop.close()
            self._socket.close()

    async def _serve(self) -> None:
        feeding = asyncio.create_task(self._feed.run())
        try:
            await self._http.serve(sockets=[self._socket])
        finally:
            feeding.cancel()

    def _healthy(self) -> bool:
        scheduler = self._embedded.scheduler
        return scheduler.epochs.undecided_s(time.monotonic()) <= scheduler.recorder.state.lease_s


def _bound(central: int) -> socket.socket:
    """A socket on the first free port after the central scheduler's, as Spark does it for its UI."""
    ports = range(central + 1, central + 1 + DRIVER_PORTS) if central else (0,)
    for port in ports:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
            listener.listen()
        except (OSError, OverflowError):
            listener.close()
            continue
        return listener
    raise SlaqError(
        f"the ports {central + 1} to {central + DRIVER_PORTS} of {HOST} are taken, so there is none for this driver's "
        "page; set scheduler.port to another one, or spark.slaq.ui to false"
    )

"""The central process: one port, one event loop on which beats and decisions take turns, one writer to the disk."""

import asyncio
import gc
import logging
import resource
import signal
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import uvicorn
import uvloop

from slaq.config import Config
from slaq.errors import SlaqError
from slaq.predict.past_fits import MOST_FITS
from slaq.scheduler.api import BeatRoute, build
from slaq.scheduler.connection import REST_S, SPARE, Connection, sweep
from slaq.scheduler.core import Clock, Scheduler
from slaq.scheduler.experience import OFF
from slaq.scheduler.guard import Guard
from slaq.scheduler.pace import Pace
from slaq.scheduler.page.feed import Feed
from slaq.scheduler.rows import past_fit_of
from slaq.scheduler.store.disk import DiskArchive

log = logging.getLogger(__name__)

ACCEPTS = 16
"""Connections taken in one turn of the event loop, which takes one for each listener: with thousands of
beats in a turn, drivers that come back after a restart would otherwise wait for seconds to get in."""
HEALTHY_EPOCHS = 3
"""Without a decision for so many epochs the process is not healthy."""
TIDY_S, TIDY_OBJECTS = 300.0, 1_000_000
"""Time between two collections of garbage, and the number of new objects that makes one urgent."""
BACKLOG = 4096
"""Drivers that may connect at the same moment, as after a restart."""


class _Http(uvicorn.Server):
    """Leaves the signals to us: uvicorn would raise them again, which ends the process before all is written."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop(self) -> None:
        """Answer what has been asked, then return from `serve`."""
        self.should_exit = True


class Server:
    """A scheduler with everything around it; `run` returns when the process is told to end."""

    def __init__(self, config: Config, reload: Callable[[], Config] | None = None, wall: Clock = time.time) -> None:
        """`reload` reads the configuration again, on SIGHUP. Signals wait from here until `run` takes them."""
        self._reload = reload or (lambda: config)
        self._early: list[int] = []
        """Signals that came before the event loop ran."""
        before = {number: signal.signal(number, self._came_early) for number in (signal.SIGHUP, signal.SIGTERM)}
        try:
            self._build(config, wall)
        except BaseException:
            for number, handler in before.items():
                signal.signal(number, handler)
            raise

    def _build(self, config: Config, wall: Clock) -> None:
        tls = _tls(config)
        # The port comes before the folder: a second scheduler must fail before it touches the state of the first.
        _allow_many_connections()
        self._socket = _bound(config)
        self.port: int = self._socket.getsockname()[1]
        self.archive = DiskArchive(Path(config.scheduler.state_dir), config.retention, wall=wall)
        self.scheduler = Scheduler(config, self.archive, incarnation=self.archive.incarnation, wall=wall)
        if config.scheduler.archive != OFF:
            self.scheduler.remember(map(past_fit_of, self.archive.past_fits(MOST_FITS)))
        self._feed = Feed(self.scheduler)
        self._guard = Guard(build(self.scheduler, self._healthy, self._feed), config)
        # After a restart the drivers come back within an epoch; to decide before would be to decide without them.
        epochs = 2 if self.archive.restarted else 1
        self._pace = Pace(config.scheduler.epoch_s, time.monotonic() + epochs * config.scheduler.epoch_s)
        self.scheduler.expect_next(self._pace.due_s)
        self._decided_s = self._tidied_s = time.monotonic()
        beats = BeatRoute(self.scheduler, self._guard, self._decide_if_due)
        self._http = _Http(_http_settings(self._guard, beats, config, tls))

    def run(self) -> None:
        """Serve until SIGTERM or SIGINT."""
        gc.disable()
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(self._serve())
        finally:
            self.scheduler.close()
            self.archive.close()
            self._socket.close()

    async def _serve(self) -> None:
        self._take_signals(asyncio.get_running_loop())
        background = [
            asyncio.create_task(self._decide()),
            asyncio.create_task(self._feed.run()),
            asyncio.create_task(sweep(self._http.server_state.connections)),
        ]
        try:
            await self._http.serve(sockets=[self._socket, *(self._socket.dup() for _ in range(ACCEPTS - 1))])
        finally:
            for task in background:
                task.cancel()

    def _stop(self) -> None:
        self._feed.close()
        self._http.stop()

    def _came_early(self, number: int, _: object) -> None:
        self._early.append(number)

    def _take_signals(self, loop: asyncio.AbstractEventLoop) -> None:
        """From here on the event loop handles signals, those that came before first."""
        stop = self._stop
        for number, handle in {signal.SIGHUP: self._hang_up, signal.SIGTERM: stop, signal.SIGINT: stop}.items():
            loop.add_signal_handler(number, handle)
            if number in self._early:
                loop.call_soon(handle)

    async def _decide(self) -> None:
        while True:
            await asyncio.sleep(max(self._pace.due_s - time.monotonic(), 0.0))
            self._decide_if_due()

    def _decide_if_due(self) -> None:
        """Also called before every beat: however many are waiting, they do not delay a decision."""
        if time.monotonic() < self._pace.due_s:
            return
        try:
            self.scheduler.decide(self._pace.due_s)
            self._decided_s = time.monotonic()
        except Exception:  # the next epoch may succeed; otherwise the grants' leases run out
            log.exception("an epoch went without a decision")
        self.scheduler.expect_next(*self._pace.decided(time.monotonic()))
        self._collect_garbage()

    def _collect_garbage(self) -> None:
        """Tidy up right after a decision, when beats are told to stay away, and only now and then.

        Left to itself Python looks through all jobs about once a second, which takes longer than a decision
        and finds nothing: beats and decisions leave no cycles behind.
        """
        now_s = time.monotonic()
        if now_s - self._tidied_s > TIDY_S or gc.get_count()[0] > TIDY_OBJECTS:
            self._tidied_s = now_s
            gc.collect()

    def _healthy(self) -> bool:
        return time.monotonic() - self._decided_s < HEALTHY_EPOCHS * self._pace.epoch_s + 1.0

    def _hang_up(self) -> None:
        """Read the configuration again; what is wrong with it is logged, and the old one stays in force."""
        try:
            config = self._reload()
            self._guard.reconfigure(config)
        except SlaqError as error:
            log.error("the configuration was not reloaded: %s", error)
            return
        if _fixed(config) != _fixed(self.scheduler.config):
            log.warning("another address, certificate or state_dir takes effect with a restart only")
        self.scheduler.reconfigure(config)
        self.archive.retention = config.retention
        self._pace.change(config.scheduler.epoch_s, time.monotonic())
        log.warning("the configuration was reloaded")


def _bound(config: Config) -> socket.socket:
    host, port = config.scheduler.host, config.scheduler.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise SlaqError(
            f"cannot listen on {host}:{port}: {error.strerror}; set scheduler.host and scheduler.port"
        ) from None
    return listener


def _tls(config: Config) -> ssl.SSLContext | None:
    """How connections are encrypted; None: not at all."""
    certificate, key = config.scheduler.tls_cert, config.scheduler.tls_key
    if not certificate:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        # A key with a pass phrase is refused: without this OpenSSL would ask the terminal, and wait.
        context.load_cert_chain(certificate, key, lambda: "")
    except OSError as error:
        raise SlaqError(
            f"scheduler.tls_cert {certificate} with scheduler.tls_key {key} cannot be used: {error.strerror or error}; "
            "give a certificate chain and its key without a pass phrase, both in PEM"
        ) from None
    return context


def _fixed(config: Config) -> tuple[object, ...]:
    """What cannot change while the process runs."""
    scheduler = config.scheduler
    return scheduler.host, scheduler.port, scheduler.tls_cert, scheduler.tls_key, scheduler.state_dir


def _allow_many_connections() -> None:
    """A connection takes a file; the usual limit of 1024 is a soft one."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _http_settings(guard: Guard, beats: BeatRoute, config: Config, tls: ssl.SSLContext | None) -> uvicorn.Config:
    settings = uvicorn.Config(
        guard,
        http=partial(Connection, beats=beats, most=config.limits.applications + SPARE),  # type: ignore[arg-type]
        lifespan="off",
        ws="none",
        interface="asgi3",
        access_log=False,
        log_config=None,
        log_level="error",  # strangers that send garbage must not fill the log
        server_header=False,
        date_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=int(REST_S),
        timeout_graceful_shutdown=2,
    )
    settings.load()
    settings.ssl = tls
    return settings

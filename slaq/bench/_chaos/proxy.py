"""The network between agents and scheduler: passes HTTP messages on, or plays the tricks that faults put into it."""

import asyncio
import re
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any

_APP = re.compile(rb'"app":"([a-z0-9]+)"')
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)

Send = Callable[[bytes], Awaitable[bytes]]
Trick = Callable[["Line", Send, bytes], Awaitable[bytes]]
"""What becomes of a request: it may pass it to `Send`, change the answer, or raise `CutError`."""


class CutError(Exception):
    """The connection to the agent ends without an answer."""


async def read_message(reader: asyncio.StreamReader) -> bytes | None:
    """A whole HTTP message, or None at the end of the connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        return head + await reader.readexactly(int(length[1]) if length else 0)
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
        return None


class Line:
    """The connection to the scheduler behind one agent's connection."""

    def __init__(self, proxy: "Proxy") -> None:
        self._proxy = proxy
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, request: bytes) -> bytes:
        """Pass a request on; its answer."""
        try:
            reader, writer = await self._open()
            writer.write(request)
            await writer.drain()
            self._proxy.note(request)
            answer = await read_message(reader)
        except OSError as error:
            self.close()
            raise CutError(str(error)) from None
        if answer is None:
            self.close()
            raise CutError("the scheduler closed the connection")
        return answer

    async def send_part(self, request: bytes) -> None:
        """Pass on what may be less than a request, and leave it there."""
        with suppress(OSError):
            _, writer = await self._open()
            writer.write(request)
            await writer.drain()

    def close(self) -> None:
        """End the connection."""
        streams, self._streams = self._streams, None
        if streams is not None:
            streams[1].transport.abort()

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._proxy.upstream)
        return self._streams


class Proxy:
    """Listens on a port of its own, in a thread of its own; `tricks` may be changed at any time."""

    def __init__(self, upstream: int) -> None:
        self.upstream, self.port = upstream, 0
        self.tricks: dict[str, Trick] = {}
        self.delivered: dict[str, float] = {}
        """When the latest message of each application went to the scheduler."""
        self.passed = 0
        self._tasks: set[asyncio.Task[Any]] = set()
        """asyncio keeps no strong reference to them, and nobody else does while they wait for a dead connection."""
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="chaos-proxy", daemon=True)
        self._thread.start()
        self._ready.wait()

    def note(self, request: bytes) -> None:
        """A request reached the scheduler."""
        self.passed += 1
        if found := _APP.search(request):
            self.delivered[found[1].decode()] = time.monotonic()

    def later(self, work: Awaitable[object]) -> None:
        """Go on with something after the answer."""
        self._keep(asyncio.ensure_future(work))

    def close(self) -> None:
        """End all connections."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5.0)

    def _keep(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line, task = Line(self), asyncio.current_task()
        assert task is not None
        self._keep(task)
        try:
            while (request := await read_message(reader)) is not None:
                send: Send = line.send
                for trick in list(self.tricks.values()):
                    send = partial(trick, line, send)
                writer.write(await send(request))
                await writer.drain()
        except (CutError, OSError):
            pass
        finally:
            writer.transport.abort()
            line.close()

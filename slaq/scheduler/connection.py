"""Connections: beats by the shortest way, and an end to connections that only cost."""

import asyncio
import time
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any, Protocol

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from slaq.protocol.routes import BEAT

REQUEST_S = 10.0
"""A request has arrived whole within this time of its first byte, the first one of opening the connection."""
ANSWER_S = 60.0
"""An answer is taken within this time."""
REST_S = 120.0
"""A connection rests at most for this long, which is longer than the longest time between beats."""
SWEEP_S = 1.0
HEAD_BYTES = 65_536
SPARE = 1000
"""Connections beyond one for each application: for people, and for drivers that come back before we hear they left."""

_BEAT = BEAT.encode()
_OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
_NO = b"HTTP/1.1 %d %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n%s\r\n"


Headers = list[tuple[bytes, bytes]]
Reply = tuple[int, bytes]
"""Status and body."""


class BeatHandler(Protocol):
    """Handles beats: first the headers, then the body."""

    @property
    def largest(self) -> int:
        """The largest body in bytes."""

    def admit(self, headers: Headers) -> "Callable[[bytearray], Reply] | Reply":
        """What replies to the body, or a refusal, which does not wait for it."""


class Connection(HttpToolsProtocol):
    """A connection that answers beats at once, without an asyncio task, and keeps the times that `sweep` looks at.

    Beats are nearly all of the traffic, and what uvicorn does around an application costs more than a beat itself.
    Every other request goes through uvicorn.
    """

    def __init__(self, *arguments: Any, beats: BeatHandler, most: int, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._beats, self._most = beats, most
        self._beater: Callable[[bytearray], Reply] | None = None
        self._body = bytearray()
        self._keep = True
        self._asking_s: float | None = None
        self._answering_s = 0.0
        self._in_head = False
        self._head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A new connection; beyond the limit it is the new ones that are refused, so that drivers keep theirs."""
        super().connection_made(transport)
        self._asking_s = time.monotonic()
        if len(self.connections) > self._most:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Some bytes; the parser itself sets no limit to headers."""
        super().data_received(data)
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES:
                self.transport.abort()

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        self._asking_s = time.monotonic()
        self._in_head, self._head_bytes = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """A beat leaves uvicorn's way here."""
        self._in_head = False
        waiting = self.cycle is not None and not self.cycle.response_complete
        if self.url != _BEAT or self.parser.get_method() != b"POST" or waiting or self.expect_100_continue:
            super().on_headers_complete()
            if self.cycle is not None:
                self.cycle.transport = _Outgoing(self.cycle.transport)  # type: ignore[assignment]
            return
        self._keep = self.parser.should_keep_alive()
        self._body = bytearray()
        admitted = self._beats.admit(self.headers)
        if isinstance(admitted, tuple):
            self._keep = False  # the body is not worth waiting for
            self._reply(*admitted)
        else:
            self._beater = admitted

    def on_body(self, body: bytes) -> None:
        """Some of the body."""
        if self._beater is None:
            if self.cycle is not None:
                super().on_body(body)
            return
        self._body += body
        if len(self._body) > self._beats.largest:
            self.transport.abort()

    def on_message_complete(self) -> None:
        """The request is here."""
        self._asking_s, self._answering_s = None, time.monotonic()
        if self._beater is not None:
            beater, self._beater = self._beater, None
            self._reply(*beater(self._body))
            self._body = bytearray()
        elif self.cycle is not None:
            super().on_message_complete()

    def end_if_slow(self, now_s: float) -> None:
        """Close the connection if its client takes too long."""
        if self._asking_s is not None:
            slow = now_s - self._asking_s > REQUEST_S
        else:
            answered = self.cycle is None or self.cycle.response_complete
            slow = now_s - self._answering_s > (REST_S if answered else ANSWER_S)
        if slow:
            self.transport.abort()

    def _reply(self, status: int, body: bytes) -> None:
        if self.flow.write_paused:
            self.transport.abort()  # it sends beats without reading the replies
        if self.transport.is_closing():
            return
        if status == 200 and self._keep:
            self.transport.write(_OK % len(body) + body)
        else:
            closing = b"" if self._keep else b"connection: close\r\n"
            phrase = HTTPStatus(status).phrase.encode()
            self.transport.write(_NO % (status, phrase, len(body), closing) + body)
        if not self._keep:
            self.transport.close()


class _Outgoing:
    """Where uvicorn writes answers: what comes after the end of the connection is dropped, on which uvloop raises."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.close, self.is_closing = transport.close, transport.is_closing

    def write(self, data: bytes) -> None:
        """Send, if anybody is there."""
        if not self._transport.is_closing():
            self._transport.write(data)


async def sweep(connections: Iterable[object]) -> None:
    """Close slow connections, for as long as the task runs."""
    while True:
        await asyncio.sleep(SWEEP_S)
        now_s = time.monotonic()
        for connection in list(connections):
            if isinstance(connection, Connection):
                connection.end_if_slow(now_s)

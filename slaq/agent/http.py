"""Beats over HTTP, on one connection that is kept open."""

import http.client
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus

import msgspec

from slaq.agent.transport import UnreachableError, refusal
from slaq.errors import SlaqError
from slaq.protocol import Answer, Beat
from slaq.protocol.address import address_parts
from slaq.protocol.names import printable
from slaq.protocol.routes import BEAT

LARGEST_ANSWER = 4 * 1024 * 1024

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Answer).decode


class Http:
    """A scheduler at an `http://` or `https://` address; `timeout_s` bounds every wait for its next byte.

    `token` is asked at once, and again when the scheduler does not know the token any more: it may have been replaced.
    """

    def __init__(
        self, endpoint: str, token: Callable[[], str] = str, ca_file: str = "", timeout_s: float = 2.0
    ) -> None:
        parts = address_parts(endpoint)
        if parts is None:
            raise SlaqError(f"the scheduler's address is {endpoint!r}; give one like http://scheduler:7527")
        self._endpoint = endpoint
        self._headers = {"Content-Type": "application/json"}
        self._token = token
        self._show(token())
        self._path = parts.path.rstrip("/") + BEAT
        self._connection = _connection(parts.scheme, parts.hostname or "", parts.port, ca_file, timeout_s)

    def exchange(self, beat: Beat) -> Answer:
        """See Transport.exchange."""
        body = _encode(beat)
        try:
            status, answer = self._post(body)
            if status == HTTPStatus.UNAUTHORIZED and self._has_another_token():
                status, answer = self._post(body)
        except (
            OSError,
            http.client.HTTPException,
            UnicodeError,
        ) as error:  # the last: a host DNS cannot encode
            self._connection.close()
            raise UnreachableError(f"{self._endpoint}: {_shown(error)}") from error
        if status == 200:
            return self._understood(answer)
        raise refusal(status, f"{self._endpoint} answered {status}: {_shown(answer[:300].decode('utf-8', 'replace'))}")

    def abort(self) -> None:
        """See Transport.abort."""
        sock = self._connection.sock
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def _show(self, token: str) -> None:
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def _has_another_token(self) -> bool:
        shown = self._headers.get("Authorization")
        with suppress(SlaqError):  # a file that is just being written: the next beat asks again
            self._show(self._token())
        return self._headers.get("Authorization") != shown

    def _post(self, body: bytes) -> tuple[int, bytes]:
        kept_open = self._connection.sock is not None
        try:
            return self._post_once(body)
        except (ConnectionError, http.client.BadStatusLine):
            if not kept_open:
                raise
            # The other side closed an idle connection; a beat that did arrive counts once, so it may go again.
            self._connection.close()
            return self._post_once(body)

    def _post_once(self, body: bytes) -> tuple[int, bytes]:
        self._connection.request("POST", self._path, body, self._headers)
        response = self._connection.getresponse()
        answer = response.read(LARGEST_ANSWER + 1)
        if len(answer) > LARGEST_ANSWER:
            raise http.client.HTTPException(f"an answer of more than {LARGEST_ANSWER} bytes")
        return response.status, answer

    def _understood(self, body: bytes) -> Answer:
        try:
            return answer_of(body, self._endpoint)
        except UnreachableError:
            self._connection.close()
            raise


def answer_of(body: bytes, whose: str) -> Answer:
    """The answer in the body of a reply; an UnreachableError names who does not speak SLAQ."""
    try:
        return _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreachableError(f"{whose} does not speak SLAQ: {_shown(error)}") from error


def _shown(said: object) -> str:
    """What the other side said, or what is wrong with it, for a log that somebody reads in a terminal."""
    return printable(str(said) or type(said).__name__)


def _connection(scheme: str, host: str, port: int | None, ca_file: str, timeout_s: float) -> http.client.HTTPConnection:
    if scheme == "http":
        return http.client.HTTPConnection(host, port, timeout=timeout_s)
    try:
        context = ssl.create_default_context(cafile=ca_file or None)
    except OSError as error:
        raise SlaqError(f"cannot read the certificate in {ca_file}: {error}; set ca_file to a PEM file") from None
    return http.client.HTTPSConnection(host, port, timeout=timeout_s, context=context)

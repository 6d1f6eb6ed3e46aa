"""Beats over HTTP: one connection, and a clear word about everything that can go wrong with it."""

import socket
import threading
import time

import msgspec
import pytest

from slaq.agent import Http, RefusedError, RejectedError, UnreachableError
from slaq.errors import SlaqError
from slaq.protocol import PROTOCOL, Answer, Beat

BEAT = Beat(PROTOCOL, "abcdef", 1, user="alice")
GOOD = msgspec.json.encode(Answer(PROTOCOL, 3, 1, 10.0, 1.0, {"a": 2.5}))


def response(body: bytes, status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


class Peer:
    """Something that listens: answers every request with the given bytes, then hangs up if told so."""

    def __init__(self, answer: bytes, close: bool = False, drip_s: float = 0.0) -> None:
        self.answer, self.close_after, self.drip_s = answer, close, drip_s
        self.requests: list[bytes] = []
        self.connections = 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            while request := connection.recv(1 << 20):
                self.requests.append(request)
                try:
                    if self.drip_s:
                        for byte in self.answer:
                            connection.sendall(bytes([byte]))
                            time.sleep(self.drip_s)
                    connection.sendall(self.answer)
                except OSError:
                    return
                if self.close_after:
                    return


class Locked(Peer):
    """Answers those who show its token, and refuses everybody else."""

    def __init__(self, token: str) -> None:
        self.token = token
        super().__init__(response(GOOD))

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            while request := connection.recv(1 << 20):
                while not request.endswith(b"}"):  # head and body may come apart
                    request += connection.recv(1 << 20)
                self.requests.append(request)
                known = f"Bearer {self.token}\r\n".encode() in request
                connection.sendall(response(GOOD) if known else response(b"{}", "401 Unauthorized"))


@pytest.fixture
def peer():
    peers = []

    def listen(*arguments, **options):
        peers.append(Peer(*arguments, **options))
        return peers[-1]

    yield listen
    for each in peers:
        each.socket.close()


def test_a_beat_goes_there_and_an_answer_comes_back(peer):
    other = peer(response(GOOD))
    transport = Http(other.url, token=lambda: "secret-token-0123456789")
    for _ in range(3):
        assert transport.exchange(BEAT).grants == {"a": 2.5}
    assert other.connections == 1
    assert other.requests[0].startswith(b"POST /v1/beat HTTP/1.1")
    assert b"Authorization: Bearer secret-token-0123456789" in other.requests[0]


def test_a_connection_that_was_closed_in_between_is_opened_again(peer):
    other = peer(response(GOOD), close=True)
    transport = Http(other.url)
    for _ in range(3):
        assert transport.exchange(BEAT).incarnation == 3
        time.sleep(0.05)
    assert other.connections == 3


def test_nobody_there():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(UnreachableError, match="refused"):
        Http(f"http://127.0.0.1:{port}").exchange(BEAT)


def test_somebody_who_never_answers():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        transport = Http(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout_s=0.2)
        began = time.monotonic()
        with pytest.raises(UnreachableError, match="timed out"):
            transport.exchange(BEAT)
        assert time.monotonic() - began < 1.0


def test_an_answer_that_drips_can_be_ended_from_outside(peer):
    transport = Http(peer(response(GOOD), drip_s=0.1).url, timeout_s=1.0)
    threading.Timer(0.4, transport.abort).start()
    began = time.monotonic()
    with pytest.raises(UnreachableError):
        transport.exchange(BEAT)
    assert time.monotonic() - began < 2.0


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        response(b"<html>proxy login</html>"),
        response(b'{"hello": "world"}'),
        response(b"[" * 100_000),
        response(b"\xff\xfe\x00"),
        response(b'{"protocol":1,"incarnation":"x","epoch":1,"lease_s":1,"next_beat_s":1}'),
        response(b"oops", "500 Internal Server Error"),
        response(b"busy", "503 Service Unavailable"),
        response(b"slow down", "429 Too Many Requests"),
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n" + b"x" * 5_000_000,
    ],
)
def test_garbage_is_told_apart_from_an_answer(peer, answer):
    with pytest.raises(UnreachableError):
        Http(peer(answer, close=True).url, timeout_s=1.0).exchange(BEAT)


def test_a_token_that_was_replaced_is_read_again():
    other, tokens = Locked("first-token-0123456789"), ["first-token-0123456789"]
    transport = Http(other.url, lambda: tokens[-1])
    assert transport.exchange(BEAT).grants == {"a": 2.5}
    other.token = "second-token-0123456789"
    with pytest.raises(RefusedError):
        transport.exchange(BEAT)
    assert len(other.requests) == 2, "a refusal is not asked for twice with the same token"
    tokens.append(other.token)
    assert transport.exchange(BEAT).grants == {"a": 2.5}
    assert transport.exchange(BEAT).grants == {"a": 2.5}
    assert len(other.requests) == 5
    other.socket.close()


def test_a_token_file_that_cannot_be_read_for_a_moment_costs_only_that_beat():
    other, reads = Locked("first-token-0123456789"), []

    def read() -> str:
        reads.append(len(reads))
        if len(reads) == 2:
            raise SlaqError("cannot read the token")
        return "first-token-0123456789" if len(reads) == 1 else "second-token-0123456789"

    transport = Http(other.url, read)
    other.token = "second-token-0123456789"
    with pytest.raises(RefusedError):
        transport.exchange(BEAT)
    assert transport.exchange(BEAT).grants == {"a": 2.5}
    other.socket.close()


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden", "404 Not Found", "426 Upgrade Required"])
def test_a_refusal_is_told_with_its_reason(peer, status):
    with pytest.raises(RefusedError, match="because"):
        Http(peer(response(b'{"error":"because"}', status)).url).exchange(BEAT)


@pytest.mark.parametrize("status", ["400 Bad Request", "413 Content Too Large"])
def test_fault_found_with_the_message_itself(peer, status):
    with pytest.raises(RejectedError):
        Http(peer(response(b"{}", status)).url).exchange(BEAT)


@pytest.mark.parametrize(
    "endpoint", ["scheduler:7527", "ftp://scheduler", "http://", "", "http://[::1", "http://scheduler:port"]
)
def test_an_address_that_is_none_is_refused(endpoint):
    with pytest.raises(SlaqError, match="http://scheduler:7527"):
        Http(endpoint)


def test_a_host_that_cannot_be_looked_up_is_nobody():
    with pytest.raises(UnreachableError):
        Http("http://a..b:7527").exchange(BEAT)


def test_a_certificate_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(SlaqError, match="ca_file"):
        Http("https://scheduler:7527", ca_file=str(tmp_path / "none.pem"))


@pytest.mark.parametrize("status", ["200 OK", "400 Bad", "500 \x1b[2J", "\x9b31m"])
def test_what_a_hostile_server_says_cannot_move_a_cursor(peer, status):
    body = b'{"protocol": 2, "incarnation": 1, "epoch": 1, "lease_s": "\x1b[2J", "\xc2\x9b\xe2\x80\xae": 1}'
    with pytest.raises(SlaqError) as found:
        Http(peer(response(body, status)).url).exchange(BEAT)
    assert str(found.value).isprintable()

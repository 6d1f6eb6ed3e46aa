"""What people read when the other end is not a scheduler in good health: one sentence, exit code 2."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

import pytest

from tests.cli.command import slaq


@pytest.fixture
def server():
    """A server that answers every request with what the test puts into `answer`."""

    class Handler(BaseHTTPRequestHandler):
        answer: ClassVar[tuple[int, bytes]] = (200, b"")
        seen: ClassVar[list[str | None]] = []

        def do_GET(self):
            self.seen.append(self.headers["Authorization"])
            self.send_response(self.answer[0])
            self.send_header("Content-Length", str(len(self.answer[1])))
            self.end_headers()
            self.wfile.write(self.answer[1])

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as http:
        http.answer = Handler
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield http
        http.shutdown()
        thread.join()


def endpoint(server: HTTPServer) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}"


@pytest.mark.parametrize("command", [("status",), ("jobs",), ("job", "x"), ("explain", "x"), ("top",), ("dump",)])
def test_nobody_there(command):
    result = slaq(*command, "--endpoint", "http://127.0.0.1:9")
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith("slaq: cannot reach the scheduler at http://127.0.0.1:9 (Connection refused); ")
    assert "endpoint (--endpoint, SLAQ_ENDPOINT)" in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    "answer",
    [
        (200, b"<html>hello"),
        (200, b'{"version": 3}'),
        (500, b"boom"),
        (200, b"\xff"),
        (302, b""),
        (200, b'{"version": "\xff"}'),
        (500, b'{"error": "\xff"}'),
        (200, b'{"x": ' + b"[" * 100_000),
    ],
)
def test_somebody_else_there(server, answer):
    server.answer.answer = answer
    result = slaq("status", "--endpoint", endpoint(server))
    assert result.code == 2
    assert "no SLAQ message" in result.err
    assert "Traceback" not in result.err


def test_a_refusal_is_its_own_sentence_without_control_characters(server):
    server.answer.answer = (403, json.dumps({"error": "job x is \x1b[31mnot yours"}).encode())
    result = slaq("status", "--endpoint", endpoint(server))
    assert (result.code, result.err) == (2, "slaq: job x is \\x1b[31mnot yours\n")


def test_a_missing_token_names_the_key(server, tmp_path):
    server.answer.answer = (401, json.dumps({"error": "a token is needed"}).encode())
    result = slaq("status", "--endpoint", endpoint(server))
    assert "set token_file (--token-file, SLAQ_TOKEN_FILE)" in result.err
    token = tmp_path / "token"
    token.write_text("0123456789abcdef")
    token.chmod(0o600)
    slaq("status", "--endpoint", endpoint(server), "--token-file", str(token))
    assert server.answer.seen[-1] == "Bearer 0123456789abcdef"


def test_an_endpoint_that_is_no_address():
    assert "http://" in slaq("status", "--endpoint", "scheduler").err
    assert slaq("status", "--endpoint", "http://").code == 2
    assert slaq("status", "--endpoint", "http://host:port").code == 2
    result = slaq("status", "--endpoint", "http://[::1")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "endpoint is 'http://[::1'" in result.err
    assert slaq("status", "--endpoint", "https://127.0.0.1:9", "--token-file", "/none").code == 2

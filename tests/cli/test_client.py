"""What people read when the other end is not a scheduler in good health: one sentence, exit code 2."""

import json

import pytest

from tests.cli.command import slaq
from tests.cli.stub import running_stub


@pytest.fixture
def server():
    with running_stub() as stub:
        yield stub


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
    server.answer = answer
    result = slaq("status", "--endpoint", server.endpoint)
    assert result.code == 2
    assert "no SLAQ message" in result.err
    assert "Traceback" not in result.err


def test_a_refusal_is_its_own_sentence_without_control_characters(server):
    server.answer = (403, json.dumps({"error": "job x is \x1b[31mnot yours"}).encode())
    result = slaq("status", "--endpoint", server.endpoint)
    assert (result.code, result.err) == (2, "slaq: job x is \\x1b[31mnot yours\n")


def test_a_missing_token_names_the_key(server, tmp_path):
    server.answer = (401, json.dumps({"error": "a token is needed"}).encode())
    result = slaq("status", "--endpoint", server.endpoint)
    assert "set token_file (--token-file, SLAQ_TOKEN_FILE)" in result.err
    token = tmp_path / "token"
    token.write_text("0123456789abcdef")
    token.chmod(0o600)
    slaq("status", "--endpoint", server.endpoint, "--token-file", str(token))
    assert server.tokens[-1] == "Bearer 0123456789abcdef"


@pytest.mark.parametrize("command", ["job", "stop", "cancel"])
def test_an_id_that_is_not_utf_8_is_just_not_known(server, command):
    server.answer = (404, b'{"error": "there is no such job"}')
    result = slaq(command, b"\xed\xa0".decode("utf-8", "surrogateescape"), "--endpoint", server.endpoint)
    assert result.code == 2
    assert "Traceback" not in result.err


def test_a_sort_field_that_is_not_utf_8_is_just_not_known(server):
    server.answer = (400, b'{"error": "cannot sort by that"}')
    result = slaq("jobs", "--sort", b"\xed\xa0".decode("utf-8", "surrogateescape"), "--endpoint", server.endpoint)
    assert (result.code, result.err) == (2, "slaq: cannot sort by that\n")


def test_an_endpoint_that_is_no_address():
    assert "http://" in slaq("status", "--endpoint", "scheduler").err
    assert slaq("status", "--endpoint", "http://").code == 2
    assert slaq("status", "--endpoint", "http://host:port").code == 2
    result = slaq("status", "--endpoint", "http://[::1")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "endpoint is 'http://[::1'" in result.err
    assert slaq("status", "--endpoint", "https://127.0.0.1:9", "--token-file", "/none").code == 2

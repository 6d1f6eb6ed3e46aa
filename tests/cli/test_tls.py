"""Commands over TLS with a token of one's own."""

import json
import shutil
import subprocess

import pytest

from tests.cli.command import slaq
from tests.cli.scheduler import running_scheduler, training

TOKENS = {"admin": "admin-0123456789abcdef", "alice": "alice-0123456789abcdef", "bob": "bob-0123456789abcdef"}

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="makes its certificate with openssl")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("tls")
    for name, token in TOKENS.items():
        (path / name).write_text(token)
        (path / name).chmod(0o600)
    certificate = [
        "-keyout",
        "key.pem",
        "-out",
        "cert.pem",
        "-subj",
        "/CN=slaq",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
    ]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *certificate]
    subprocess.run(command, cwd=path, check=True, capture_output=True)
    return path


@pytest.fixture(scope="module")
def endpoint(folder):
    users = "[users.alice]\ntoken_file = 'alice'\n[users.bob]\ntoken_file = 'bob'\n"
    tail = f"tls_cert = 'cert.pem'\ntls_key = 'key.pem'\n{users}"
    with running_scheduler(folder, "token_file = 'admin'", tail, ca=str(folder / "cert.pem")) as scheduler:
        scheduler.beat("app00001", [training("mine", [2.0, 1.0])], token=TOKENS["alice"])
        scheduler.beat("app00002", [training("theirs", [2.0, 1.0])], token=TOKENS["bob"])
        scheduler.wait_epochs(1, TOKENS["alice"])
        yield scheduler.endpoint


@pytest.fixture
def ask(folder, endpoint, monkeypatch):
    monkeypatch.setenv("SLAQ_CA_FILE", str(folder / "cert.pem"))

    def run(user: str, *arguments: str):
        return slaq(*arguments, "--endpoint", endpoint, "--token-file", str(folder / user))

    return run


def test_users_see_their_own_jobs_and_the_admin_sees_all(ask):
    def ids(user: str) -> list[str]:
        return sorted(job["id"] for job in json.loads(ask(user, "jobs", "--format", "json").out)["jobs"])

    assert ids("alice") == ["app00001-mine"]
    assert ids("bob") == ["app00002-theirs"]
    assert ids("admin") == ["app00001-mine", "app00002-theirs"]


def test_another_users_job_is_neither_shown_nor_changed(ask):
    for command in (("job", "app00002-theirs"), ("cancel", "app00002-theirs"), ("set", "app00002-theirs", "weight=9")):
        result = ask("alice", *command)
        assert result.code == 2
        assert "Traceback" not in result.err
    assert json.loads(ask("bob", "job", "theirs", "--format", "json").out)["job"]["weight"] == 1.0
    assert ask("alice", "dump").code == 2
    assert ask("admin", "dump").code == 0


def test_without_a_token_the_sentence_names_the_key(endpoint, folder, monkeypatch):
    monkeypatch.setenv("SLAQ_CA_FILE", str(folder / "cert.pem"))
    result = slaq("status", "--endpoint", endpoint)
    assert result.code == 2
    assert "set token_file (--token-file, SLAQ_TOKEN_FILE)" in result.err


def test_a_certificate_that_nobody_trusts_is_one_sentence(endpoint):
    result = slaq("status", "--endpoint", endpoint)
    assert result.code == 2
    assert "certificate verify failed" in result.err
    assert "ca_file" in result.err
    assert result.err.count("\n") == 1

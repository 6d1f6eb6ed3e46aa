"""The process as a whole: its command, its commands, TLS, and the load it bears."""

import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from slaq.agent import Agent, Hooks, Http
from slaq.bench.load import measure
from slaq.scheduler.server import _tls
from tests.scheduler.support import make_config, until
from tests.scheduler.trainer import Trainer
from tests.scheduler.web import token_file

TOKEN = "admin-token-0123456789"

pytestmark = pytest.mark.slow


def slaq(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SLAQ_")}
    return subprocess.run(
        [sys.executable, "-m", "slaq.cli", *arguments], capture_output=True, text=True, timeout=60, env=environment
    )


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    folder = tmp_path_factory.mktemp("tls")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout key.pem -out cert.pem"
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run([*command.split(), *names], cwd=folder, check=True, capture_output=True)
    return folder


def test_tls_and_a_token_protect_an_address_that_others_can_reach(start, tmp_path, certificate):
    token = token_file(tmp_path, "admin", TOKEN)
    conf = tmp_path / "slaq.toml"
    conf.write_text(
        f'token_file = "{token}"\n[scheduler]\nhost = "0.0.0.0"\n'
        f'tls_cert = "{certificate / "cert.pem"}"\ntls_key = "{certificate / "key.pem"}"\n'
    )
    process = start(conf=conf)
    url = f"https://localhost:{process.port}"
    trusted = ssl.create_default_context(cafile=str(certificate / "cert.pem"))
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"{url}/v1/status", timeout=5, context=trusted)
    with pytest.raises(urllib.error.URLError, match="certificate"):
        urllib.request.urlopen(f"{url}/v1/status", timeout=5)
    grants: list[dict[str, float]] = []
    hooks = Hooks(lambda cores, *_: grants.append(cores), lambda: None)
    agent = Agent(Http(url, lambda: TOKEN, str(certificate / "cert.pem")), hooks)
    agent.begin("1")
    until(lambda: grants and grants[-1] == {"1": 8.0})
    agent.close()


def test_it_does_not_start_where_others_can_reach_it_without_a_token(tmp_path):
    found = slaq("scheduler", "--host", "0.0.0.0", "--port", "0", "--state-dir", str(tmp_path))
    assert found.returncode == 2
    assert "token_file" in found.stderr
    assert "Traceback" not in found.stderr


def test_another_conf_file_takes_no_token_away_from_an_address_that_others_can_reach(start, tmp_path):
    conf = tmp_path / "slaq.toml"
    conf.write_text(f'token_file = "{token_file(tmp_path, "admin", TOKEN)}"\n[scheduler]\nhost = "0.0.0.0"\n')
    process = start(conf=conf)
    with pytest.raises(urllib.error.HTTPError, match="401"):
        process.get("/v1/status")
    conf.write_text('[scheduler]\nhost = "127.0.0.1"\n')
    process.signal(signal.SIGHUP)
    until(lambda: "not reloaded" in process.errors())
    with pytest.raises(urllib.error.HTTPError, match="401"):
        process.get("/v1/status")


EARLY = """
import os, signal
from slaq.scheduler import server
run = server.Server.run
def signalled(self):
    os.kill(os.getpid(), signal.SIGHUP)
    run(self)
server.Server.run = signalled
from slaq.cli import main
main()
"""


def test_a_sighup_before_the_event_loop_runs_waits_for_it(start):
    process = start(program=EARLY)
    until(lambda: "the configuration was reloaded" in process.errors())
    assert process.get("/v1/status")["policy"] == "finish-line"


@pytest.mark.parametrize("key", ["none.pem", "wrong.pem", "locked.pem"])
def test_a_certificate_that_cannot_be_used_is_one_sentence(tmp_path, certificate, key):
    (tmp_path / "wrong.pem").write_text("no key at all")
    locked = f"openssl rsa -in {certificate / 'key.pem'} -aes256 -passout pass:secret -out {tmp_path / 'locked.pem'}"
    subprocess.run(locked.split(), check=True, capture_output=True)
    conf = tmp_path / "slaq.toml"
    conf.write_text(f'[scheduler]\nport = 0\ntls_cert = "{certificate / "cert.pem"}"\ntls_key = "{key}"\n')
    found = slaq("scheduler", "--conf", str(conf), "--state-dir", str(tmp_path / "state"))
    assert (found.returncode, found.stdout) == (2, "")
    assert f"tls_key {tmp_path / key} cannot be used" in found.stderr
    assert found.stderr.count("\n") == 1
    assert not (tmp_path / "state").exists()


def test_older_tls_than_1_2_is_not_spoken(certificate):
    files = {f"tls_{name}": str(certificate / f"{name}.pem") for name in ("cert", "key")}
    assert _tls(make_config(**files)).minimum_version == ssl.TLSVersion.TLSv1_2


def test_the_commands_for_people_speak_to_it(start):
    process = start()
    trainer = Trainer(process.url, 60.0, name="night run")
    until(lambda: trainer.cores == 8.0)
    listed = json.loads(slaq("jobs", "--endpoint", process.url, "--format", "json").stdout)
    assert "night run" in json.dumps(listed)
    assert "finish-line" in slaq("status", "--endpoint", process.url).stdout
    assert slaq("hold", trainer.key, "--endpoint", process.url).returncode == 0
    until(lambda: trainer.cores == 0.0)
    trainer.close()


def test_the_load_benchmark_loses_nothing():
    facts = measure(agents=200, seconds=3.0, ramp_s=2.0, processes=1)
    assert facts["reports_lost"] == 0
    assert facts["failures"] == 0, facts["first_failure"]
    assert facts["jobs"] == 200
    assert facts["beats"] >= 200
    assert facts["problems"] == []

"""The page of a scheduler inside a driver: on the loopback, for those who ask for it, and of no cost to jobs."""

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from slaq.agent import Hooks
from slaq.config import Config, SchedulerConfig
from slaq.driver.connect import Connection
from slaq.protocol import Declaration
from tests.cli.command import slaq
from tests.page.browser import Watched, keep, launched
from tests.scheduler.support import until
from tests.scheduler.web import token_file

TOKEN = "driver-token-0123456789"
WITHOUT = """
import sys
sys.modules[sys.argv[1]] = None  # importing it fails, as if it were not installed
from slaq.config import Config
from slaq.driver.connect import Connection
from slaq.errors import SlaqError
with Connection(Config(ui=True), "app", "user") as connection:
    try:
        connection.serve_page()
    except SlaqError as error:
        print(error)
"""


def config(port: int = 0, **fields) -> Config:
    return Config(ui=True, scheduler=SchedulerConfig(port=port, epoch_s=0.1), **fields)


def ask(address: str, path: str, **headers: str) -> bytes:
    with urllib.request.urlopen(urllib.request.Request(address + path, headers=headers), timeout=5) as answer:
        return answer.read()


@pytest.fixture
def connection():
    with Connection(config(), "notebook", "me") as connection:
        connection.serve_page()
        yield connection


def test_it_shows_the_jobs_of_this_driver(connection):
    address = connection.page.address
    assert address.startswith("http://127.0.0.1:")
    assert address in str(connection)
    agent = connection.agent(Hooks(lambda *_: None, lambda: None, cores=lambda: 2.0))
    agent.begin("a", Declaration("first fit"))
    agent.report("a", 1.0, 0)
    until(lambda: [job["name"] for job in json.loads(ask(address, "v1/jobs"))["jobs"]] == ["first fit"])
    assert b"<title>SLAQ</title>" in ask(address, "ui/")
    assert ask(address, "healthz") == b"ok\n"
    with urllib.request.urlopen(address + "v1/events", timeout=5) as stream:
        assert stream.readline() == b"retry: 1000\n"
    agent.close()


@pytest.mark.slow
def test_in_a_browser_it_is_live_and_says_that_a_driver_keeps_no_history(connection, tmp_path):
    agent = connection.agent(Hooks(lambda *_: None, lambda: None, cores=lambda: 2.0))
    agent.begin("a", Declaration("first fit"))
    agent.report("a", 1.0, 0)
    with launched() as browser:
        watched = Watched(browser, connection.page.address.rstrip("/"))
        watched.open("#/jobs")
        watched.page.locator("tbody a", has_text="first fit").wait_for()
        agent.begin("b", Declaration("second fit"))
        watched.page.locator("tbody a", has_text="second fit").wait_for()
        keep(watched.page, tmp_path, "driver")
        watched.page.locator("nav a", has_text="History").click()
        watched.page.locator("p[role=status]", has_text="decision log").wait_for()
        assert watched.page.locator("#what-if").is_hidden()
        watched.close()
    agent.close()


def test_it_takes_no_jobs_of_others(connection):
    request = urllib.request.Request(
        connection.page.address + "v1/beat", b"{}", {"Content-Type": "application/json"}, method="POST"
    )
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(request, timeout=5)


def test_with_a_token_file_it_asks_for_the_token(tmp_path):
    with Connection(config(token_file=token_file(tmp_path, "own", TOKEN)), "notebook", "me") as connection:
        connection.serve_page()
        address = connection.page.address
        with pytest.raises(urllib.error.HTTPError, match="401"):
            ask(address, "v1/jobs")
        assert json.loads(ask(address, "v1/jobs", Authorization=f"Bearer {TOKEN}"))["total"] == 0


def test_it_ends_with_the_driver_also_while_somebody_looks():
    connection = Connection(config(), "notebook", "me")
    connection.serve_page()
    address = connection.page.address
    with urllib.request.urlopen(address + "v1/events", timeout=5) as stream:
        stream.readline()
        began_s = time.monotonic()
        connection.close()
        assert time.monotonic() - began_s < 4.0
    with pytest.raises(urllib.error.URLError):
        ask(address, "healthz")


def test_without_being_asked_for_there_is_none():
    with Connection(Config(), "notebook", "me") as connection:
        connection.serve_page()
        assert connection.page is None


@pytest.mark.parametrize("missing", ["starlette", "uvicorn", "prometheus_client"])
def test_without_the_extra_it_says_what_to_install(missing):
    done = subprocess.run([sys.executable, "-c", WITHOUT, missing], capture_output=True, text=True, timeout=60)
    assert "pip install 'slaq[scheduler]'" in done.stdout, done.stderr


def test_each_driver_takes_the_next_port_and_slaq_ui_finds_them(monkeypatch):
    with socket.socket() as taken:  # the port where a scheduler would be, with something else on it
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        monkeypatch.setenv("SLAQ_SCHEDULER_PORT", str(port))
        assert "spark.slaq.ui" in slaq("ui").err
        with Connection(config(port), "one", "me") as one, Connection(config(port), "two", "me") as two:
            one.serve_page()
            two.serve_page()
            found = slaq("ui")
        assert (found.code, found.err) == (0, "")
        assert found.out.split() == [one.page.address + "ui/", two.page.address + "ui/"]


def test_slaq_ui_names_the_page_of_the_configured_scheduler():
    assert slaq("ui", "--endpoint", "http://scheduler:7527/").out == "http://scheduler:7527/ui/\n"

"""Connections that bring nothing: silent, dribbling, endless, too many. Drivers at work do not notice them."""

import http.client
import json
import socket
import struct
import time
from contextlib import ExitStack, closing

import pytest

from slaq.protocol import PROTOCOL, routes
from tests.scheduler.support import Process, until
from tests.scheduler.trainer import Trainer

IMPATIENT = """
from slaq.scheduler import connection
connection.REQUEST_S, connection.SWEEP_S, connection.SPARE = 1.0, 0.1, 30
from slaq.cli import main
main()
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def process(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scheduler")
    conf = folder / "slaq.toml"
    conf.write_text("[limits]\napplications = 10\n")
    process = Process(folder, program=IMPATIENT, conf=conf, lease_s=5.0)
    yield process
    process.close()


@pytest.fixture(scope="module")
def driver(process):
    trainer = Trainer(process.url, 600.0)
    until(lambda: trainer.cores == 8.0)
    yield trainer
    trainer.close()


@pytest.fixture(autouse=True)
def trainer(driver):
    """A driver at work, which must not notice anything."""
    yield driver
    until(lambda: driver.agent.connected)
    assert driver.opened == 0, "it kept its grant all the time"


def connect(process: Process) -> socket.socket:
    return socket.create_connection(("127.0.0.1", process.port), timeout=20)


def ends(connection: socket.socket, more: bytes = b"", times: int = 0, pause_s: float = 0.0) -> bool:
    """Whether the other side closes the connection, without an answer, while we send more and then wait."""
    try:
        for _ in range(times):
            connection.sendall(more)
            time.sleep(pause_s)
        return connection.recv(100) == b""
    except ConnectionError:
        return True


def test_a_connection_that_asks_nothing_is_closed(process):
    with closing(connect(process)) as silent:
        assert ends(silent)


@pytest.mark.parametrize("beginning", [b"GET /v1/status HTTP/1.1\r\n", b"POST /v1/beat HTTP/1.1\r\nHost: x\r\n"])
def test_headers_that_dribble_in_do_not_keep_a_connection(process, beginning):
    with closing(connect(process)) as slow:
        slow.sendall(beginning)
        assert ends(slow, b"x-slow: 1\r\n", times=100, pause_s=0.1)


def test_a_body_that_does_not_come_does_not_keep_a_connection(process):
    head = "Host: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
    with closing(connect(process)) as slow:
        slow.sendall(f"POST {routes.BEAT} HTTP/1.1\r\n{head}".encode())
        assert ends(slow)


@pytest.mark.parametrize("more", [b"", b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\x00garbage\r\n\r\n"])
def test_a_page_that_hangs_up_while_it_is_answered_leaves_no_stack_trace(process, more):
    for pause_s in (0.0, 0.001, 0.002, 0.005) * 25:
        page = connect(process)
        page.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n" + more)
        time.sleep(pause_s)
        page.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset
        page.close()
    assert process.process.poll() is None
    assert "Traceback" not in process.errors()


def test_headers_without_end_are_cut_off(process):
    with closing(connect(process)) as endless:
        endless.sendall(b"GET /v1/status HTTP/1.1\r\n")
        assert ends(endless, b"x-more: " + b"x" * 8000 + b"\r\n", times=1000)


def test_of_too_many_connections_the_latest_go(process, trainer):
    with ExitStack() as stack:
        crowd = [stack.enter_context(closing(connect(process))) for _ in range(60)]
        assert ends(crowd[-1])
        assert trainer.agent.connected


def test_a_connection_may_rest_between_two_requests(process):
    with closing(http.client.HTTPConnection("127.0.0.1", process.port, timeout=20)) as kept:
        kept.auto_open = 0
        kept.connect()
        for _ in range(2):
            kept.request("GET", routes.HEALTH)
            assert kept.getresponse().read() == b"ok\n"
            time.sleep(1.5)


JSON = "Content-Type: application/json\r\n"
GOOD = json.dumps({"protocol": PROTOCOL, "app": "app0001", "seq": 1})


def talk(process: Process, text: str, answers: int = 1) -> list[int]:
    """The statuses of the answers to what is sent in one go."""
    with closing(connect(process)) as connection:
        connection.sendall(text.encode("latin-1"))
        reader = connection.makefile("rb")
        found = []
        for _ in range(answers):
            found.append(int(reader.readline().split()[1]))
            length = 0
            while (line := reader.readline().strip()) != b"":
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            body = reader.read(length)
            assert found[-1] == 200 or b'"error":' in body, body
        return found


def beat(body: str = GOOD, headers: str = JSON, version: str = "1.1", length: int | None = None) -> str:
    size = len(body) if length is None else length
    head = f"POST {routes.BEAT} HTTP/{version}\r\nHost: 127.0.0.1\r\n"
    return f"{head}{headers}Content-Length: {size}\r\n\r\n{body}"


def chunked(*parts: str) -> str:
    head = f"POST {routes.BEAT} HTTP/1.1\r\nHost: 127.0.0.1\r\n{JSON}Transfer-Encoding: chunked\r\n\r\n"
    return head + "".join(f"{len(part):x}\r\n{part}\r\n" for part in (*parts, ""))


def test_a_beat_is_answered_however_it_is_sent(process):
    status = f"GET {routes.HEALTH} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    assert talk(process, beat()) == [200]
    assert talk(process, beat(version="1.0")) == [200]
    assert talk(process, chunked(GOOD[:9], GOOD[9:])) == [200]
    assert talk(process, beat() + beat() + beat(), 3) == [200, 200, 200]
    with closing(http.client.HTTPConnection("127.0.0.1", process.port, timeout=20)) as patient:
        patient.request("POST", routes.BEAT, GOOD, {"Content-Type": "application/json", "Expect": "100-continue"})
        assert b"incarnation" in patient.getresponse().read()
        patient.request("GET", routes.HEALTH)
        assert patient.getresponse().read() == b"ok\n"
    assert talk(process, beat() + status + beat(), 3) == [200, 200, 200]


def test_a_beat_that_makes_no_sense_is_refused_with_a_sentence(process):
    beats = GOOD.replace("app0001", "nobody")
    for text, status in (
        (beat("{"), 400),
        (beat("[" * 100_000), 400),
        (beat("\xff\xfe"), 400),
        (beat(beats.replace("nobody", "../..")), 400),
        (beat(beats.replace(f": {PROTOCOL},", ": 99,")), 426),
        (beat(beats, headers=""), 415),
        (beat(beats, headers=JSON + "Origin: http://elsewhere\r\n"), 403),
        (beat(beats, headers=JSON + "Host: elsewhere\r\n"), 403),
        (beat(beats, length=10**9), 413),
    ):
        assert talk(process, text) == [status], text[:200]
    assert "nobody" not in {app["id"] for app in process.get(routes.DUMP)["applications"]}


def test_a_body_without_end_is_cut_off(process):
    with closing(connect(process)) as endless:
        endless.sendall(chunked().split("\r\n0\r\n")[0].encode() + b"\r\n")
        assert ends(endless, b"2000\r\n" + b"x" * 0x2000 + b"\r\n", times=1000)


def test_a_client_that_beats_on_and_on_without_reading_the_replies_is_cut_off(process):
    with closing(socket.socket()) as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # before it connects: the window stays this small
        deaf.settimeout(20.0)
        deaf.connect(("127.0.0.1", process.port))
        refused = beat("{").encode() * 100
        try:
            for _ in range(10_000):
                deaf.sendall(refused)
        except ConnectionError:
            return
    pytest.fail("it was never cut off")

"""Where the number of cores comes from."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from slaq.config import SchedulerConfig
from slaq.scheduler.capacity import CapacitySource, living_cores
from tests.scheduler.support import Bench, job, make_config, until

PAGE = {
    "url": "spark://host:7077",
    "workers": [
        {"id": "w1", "state": "ALIVE", "cores": 16, "coresused": 4},
        {"id": "w2", "state": "ALIVE", "cores": 8, "coresused": 8},
        {"id": "w3", "state": "DEAD", "cores": 64, "coresused": 0},
    ],
    "cores": 24,
}


class Master:
    """A standalone master as far as its JSON page goes."""

    def __init__(self, page: bytes) -> None:
        master = self
        self.page = page

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200 if self.path == "/json/" else 404)
                self.end_headers()
                self.wfile.write(master.page)

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def master():
    found = Master(json.dumps(PAGE).encode())
    yield found
    found.server.shutdown()
    found.server.server_close()


def test_a_fixed_number_is_what_it_is():
    capacity = CapacitySource(SchedulerConfig(capacity=40)).now([8.0])
    assert (capacity.cores, capacity.source) == (40, "fixed")


def test_drivers_offer_the_cores_of_their_executors():
    source = CapacitySource(SchedulerConfig(capacity="drivers"))
    assert source.now([]).cores == 0
    assert source.now([8.0, 4.0]).cores == 12


@pytest.mark.parametrize(("declared", "real"), [(32.0, 8), (1.0, 1), (0.0, 0)])
def test_declared_cores_are_divided_by_the_oversubscription(declared, real):
    source = CapacitySource(SchedulerConfig(capacity="drivers", oversubscription=4.0))
    assert source.now([declared]).cores == real


def test_only_living_workers_of_a_master_count():
    assert living_cores(json.dumps(PAGE).encode()) == 24


def test_a_masters_page_is_followed_and_its_last_word_stays_in_force(master, monkeypatch):
    monkeypatch.setattr("slaq.scheduler.capacity.MASTER_POLL_S", 0.05)
    source = CapacitySource(SchedulerConfig(capacity="master", master_url=master.url, oversubscription=2.0))
    until(lambda: source.now(()).cores == 12)
    assert source.now(()).problem == ""
    master.page = b"<html>not what you think</html>"
    until(lambda: source.now(()).problem)
    assert master.url in source.now(()).problem
    assert source.now(()).cores == 12
    source.close()


def test_what_a_master_answers_cannot_move_a_cursor(monkeypatch):
    def fails(*_, **__):
        raise OSError("HTTP Error 500: \x1b[2J\x9b")

    monkeypatch.setattr("urllib.request.urlopen", fails)
    source = CapacitySource(SchedulerConfig(capacity="master", master_url="http://master:8080"))
    until(lambda: source.now(()).problem)
    source.close()
    assert source.now(()).problem.isprintable()


def test_the_cores_of_a_driver_that_goes_silent_go_with_it():
    bench = Bench(make_config(capacity="drivers"))
    bench.beat(job("1"), cores=8.0)
    bench.beat(job("1"), app="app0002", cores=4.0)
    bench.epoch()
    assert bench.scheduler.status().capacity.cores == 12
    for _ in range(6):
        bench.beat(app="app0002", cores=4.0)
        bench.epoch()
    assert bench.scheduler.status().capacity.cores == 4


def test_the_cores_of_an_application_that_leaves_go_with_it():
    bench = Bench(make_config(capacity="drivers"))
    bench.beat(job("1"), cores=4.0)
    bench.beat(job("1"), app="app0002", cores=2.0)
    bench.epoch()
    assert bench.scheduler.status().capacity.cores == 6
    bench.beat(app="app0002", cores=2.0, leaving=True)
    bench.epoch()
    assert bench.scheduler.status().capacity.cores == 4

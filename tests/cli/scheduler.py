"""A real scheduler process, and drivers that beat as real ones do, for the tests of commands."""

import contextlib
import http.client
import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from slaq.cli._processes import free_port
from slaq.protocol import PROTOCOL, Answer, Beat, Declaration, Ended, JobBeat, Report, Status, routes

EPOCH_S = 0.2


class Scheduler:
    """Where it listens, and how a driver tells it something."""

    def __init__(self, port: int, trust: ssl.SSLContext | None) -> None:
        self.endpoint = f"{'https' if trust else 'http'}://127.0.0.1:{port}"
        self._port, self._trust, self._seq = port, trust, 0

    def beat(
        self, app: str, jobs: Sequence[JobBeat], *, name: str = "app", user: str = "alice", token: str = ""
    ) -> Answer:
        self._seq += 1
        body = msgspec.json.encode(Beat(PROTOCOL, app, self._seq, name=name, user=user, cores=4.0, jobs=list(jobs)))
        return msgspec.json.decode(self._ask("POST", routes.BEAT, token, body), type=Answer)

    def wait_epochs(self, count: int, token: str = "") -> None:
        """Until so many decisions were begun and made from now on."""
        enough = self._epoch(token) + count + 1
        while self._epoch(token) < enough:
            time.sleep(EPOCH_S)

    def _epoch(self, token: str) -> int:
        return msgspec.json.decode(self._ask("GET", routes.STATUS, token), type=Status).epoch

    def _ask(self, method: str, route: str, token: str, body: bytes | None = None) -> bytes:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        with contextlib.closing(self._connection()) as connection:
            connection.request(method, route, body, headers)
            response = connection.getresponse()
            content = response.read()
            assert response.status == 200, content
            return content

    def _connection(self) -> http.client.HTTPConnection:
        if self._trust is None:
            return http.client.HTTPConnection("127.0.0.1", self._port, timeout=5)
        return http.client.HTTPSConnection("127.0.0.1", self._port, timeout=5, context=self._trust)


@contextlib.contextmanager
def running_scheduler(folder: Path, conf_head: str = "", conf_tail: str = "", ca: str = "") -> Iterator[Scheduler]:
    """A scheduler of four cores with short epochs; ended in the end. `ca` is what to trust if it speaks TLS."""
    port = free_port()
    conf = folder / "slaq.toml"
    conf.write_text(
        f"{conf_head}\n[scheduler]\nport = {port}\nstate_dir = 'state'\nepoch_s = {EPOCH_S}\nlease_s = 60\n"
        f"capacity = 4\n{conf_tail}"
    )
    env = {name: value for name, value in os.environ.items() if not name.startswith("SLAQ_")}
    command = [sys.executable, "-m", "slaq.cli", "scheduler", "--conf", str(conf)]
    with subprocess.Popen(command, env=env, stderr=(folder / "log").open("w")) as process:
        try:
            _await(process, port)
            yield Scheduler(port, ssl.create_default_context(cafile=ca) if ca else None)
        finally:
            process.terminate()


def _await(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.05)
    raise AssertionError("the scheduler did not start")


def training(job: str, losses: Sequence[float], name: str = "", **declared: object) -> JobBeat:
    """A job with a name of its own and one report for each loss."""
    reports = [Report(loss, number, 0.4, 0.01) for number, loss in enumerate(losses)]
    return JobBeat(job, Declaration(name or job, "LogisticRegression", began_at=time.time(), **declared), 0, reports)


def ended(job: str) -> JobBeat:
    return JobBeat(job, ended=Ended(at=time.time()))

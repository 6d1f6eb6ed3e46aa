"""Bytes to a real scheduler process: the same requests on connections of their own, cut, garbled and repeated."""

import http.client
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from random import Random

from slaq.bench._fuzzing import BrokenError
from slaq.bench._grammar import spoiled_bytes
from slaq.bench._request_grammar import HOST, Asked, RequestGrammar
from slaq.errors import SlaqError

ANSWER_S = 0.3
"""What is not answered by then waits for more, as a request does whose body is shorter than it says."""
MOST_RSS_MB = 400.0
"""Memory of the process; it begins with about a hundred."""
_CONF = (
    "[scheduler]\ncapacity = 16\nstate_dir = 'state'\n[limits]\nrequests_per_s = 1e6\napplications = 100\njobs = 1000\n"
)
_STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")


class SchedulerProcess:
    """A `slaq scheduler` of this version, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "slaq.toml").write_text(_CONF)
        self._log = (folder / "scheduler.log").open("w+")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SLAQ_")}
        command = [sys.executable, "-m", "slaq.cli", "scheduler", "--port", "0", "--conf", str(folder / "slaq.toml")]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self._log, text=True, env=environment, cwd=folder
        )
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        if "listens on" not in said:
            self.close()
            raise SlaqError(f"the scheduler did not start: {self.log()[-300:]!r}")
        self.port = int(said.rpartition(":")[2])

    @property
    def endpoint(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def log(self) -> str:
        """What it has logged."""
        self._log.seek(0)
        return self._log.read()

    def healthy(self) -> None:
        """Raise BrokenError unless it is alive, decides, keeps its memory and has nothing to complain about."""
        if (code := self._process.poll()) is not None:
            raise BrokenError(f"the scheduler ended with {code}: {self.log()[-1000:]}")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", "/healthz")
        status = connection.getresponse().status
        connection.close()
        if status != 200:
            raise BrokenError(f"the scheduler is not healthy: {status}")
        if "Traceback" in (log := self.log()):
            raise BrokenError(f"the scheduler logged {log[max(log.index('Traceback') - 200, 0) :][:3000]}")
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        if (rss_mb := pages * os.sysconf("SC_PAGE_SIZE") / 1e6) > MOST_RSS_MB:
            raise BrokenError(f"the scheduler holds {rss_mb:.0f} MB")

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()


class Sockets:
    """Connections to a scheduler without tokens."""

    name = "sockets"

    def __init__(self, process: SchedulerProcess) -> None:
        self._process = process
        self._grammar = RequestGrammar(tokens=False)

    def case(self, random: Random) -> str:
        """See Target.case."""
        sent = written(random, self._grammar.draw(random))
        with socket.create_connection(("127.0.0.1", self._process.port), timeout=10) as connection:
            try:
                connection.sendall(sent)
                answer = _answer(connection)
            except (ConnectionError, TimeoutError):
                return "cut off"
        if not answer:
            return "closed"
        found = _STATUS.match(answer)
        if found is None or int(found[1]) >= 500:
            raise BrokenError(f"{sent[:500]!r} was answered with {answer[:200]!r}")
        return found[1].decode()

    def check(self) -> None:
        """See Target.check."""
        self._process.healthy()

    def close(self) -> None:
        """The process is not ours."""


def written(random: Random, asked: Asked) -> bytes:
    """A request as it goes over the wire, more or less."""
    head = [asked.method.encode() + b" " + asked.target + b" HTTP/1.1"]
    head += [name + b": " + value for name, value in asked.headers]
    head += [b"connection: close"] * (random.random() < 0.9)
    text = b"\r\n".join((*head, b"", b"".join(asked.parts)))
    match random.randrange(12):
        case 0:
            return spoiled_bytes(random, text)
        case 1:  # in chunks, some of which lie about their length
            chunk = b"%x\r\n%s\r\n" % (random.choice((len(asked.parts[0]), 1, 2**40)), asked.parts[0])
            return (
                b"POST /v1/beat HTTP/1.1\r\nhost: "
                + HOST
                + b"\r\ntransfer-encoding: chunked\r\n\r\n"
                + chunk
                + b"0\r\n\r\n"
            )
        case 2:  # two at once
            return text + text
        case 3:
            return text.replace(b"\r\n", random.choice((b"\n", b"\r", b"\r\n ", b"\r\n\x00")), 3)
        case 4:
            return text.replace(b"HTTP/1.1", random.choice((b"HTTP/1.0", b"HTTP/2.0", b"HTTP/9", b"")), 1)
        case _:
            return text


def _answer(connection: socket.socket) -> bytes:
    """The beginning of what comes back; nothing if the other side closes, or waits for more."""
    connection.settimeout(ANSWER_S)
    try:
        return connection.recv(65_536)
    except TimeoutError:
        return b""

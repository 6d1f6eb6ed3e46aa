"""Simulated agents, thousands in one process: each beats over a connection of its own and reports an iteration.

Run as a program: `python -m slaq.bench._load_agents PORT FIRST COUNT RAMP_S SECONDS`; prints its findings as JSON.
"""

import asyncio
import json
import sys
import time
from dataclasses import dataclass, field

import msgspec
import uvloop

from slaq.protocol import PROTOCOL, Beat, Declaration, JobBeat, Report
from slaq.protocol.beat import MAX_REPORTS
from slaq.protocol.routes import BEAT

_HEAD = f"POST {BEAT} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ".encode()
_encode = msgspec.json.Encoder().encode


class Heard(msgspec.Struct):
    """What a simulated agent reads of an answer: thousands a second leave no time for the rest."""

    next_beat_s: float
    grants: dict[str, float] = {}


_decode = msgspec.json.Decoder(Heard).decode


@dataclass
class Findings:
    """What all agents of a process saw; times count from the end of the ramp on."""

    measure_from: float
    latencies: list[float] = field(default_factory=list)
    answered_at: list[float] = field(default_factory=list)
    sent: int = 0
    """Reports in beats that were answered."""
    failures: int = 0
    first_failure: str = ""
    ungranted: int = 0
    """Beats that were answered without a grant, long after the job was declared."""


class SimulatedAgent(asyncio.Protocol):
    """One application with one job. Its first beat carries a full history, as after a scheduler's restart."""

    def __init__(self, number: int, findings: Findings, stop_at: float) -> None:
        self._app = f"load{number:08}"
        self._findings = findings
        self._stop_at = stop_at
        self._loop = asyncio.get_running_loop()
        self._seq = self._made = 0
        self._began = 0.0
        self._reports = MAX_REPORTS
        self._buffer = b""
        self._done = False
        body = _encode(Beat(PROTOCOL, self._app, 0, name="load", user="load", jobs=[JobBeat("1")]))
        start, _, end = body.partition(b'"seq":0')
        self._template = (
            start.replace(b"%", b"%%")
            + b'"seq":%d'
            + end.replace(b"%", b"%%").replace(b'{"id":"1"}', b'{"id":"1","first":%d,"reports":[[%r,%d,2.0,0.1]]}')
        )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]
        self._beat()

    def _beat(self) -> None:
        if self._transport.is_closing():
            return
        first, self._made = self._made, self._made + self._reports
        self._seq += 1
        body = self._first_body() if self._seq == 1 else self._template % (self._seq, first, _loss(first), first)
        self._began = time.perf_counter()
        self._transport.write(b"%s%d\r\n\r\n%s" % (_HEAD, len(body), body))

    def _first_body(self) -> bytes:
        reports = [Report(_loss(k), k, 2.0, 0.1) for k in range(self._made)]
        job = JobBeat("1", Declaration("load", "Simulated", max_cores=16.0), 0, reports)
        return _encode(Beat(PROTOCOL, self._app, 1, name="load", user="load", jobs=[job]))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, body = self._buffer.partition(b"\r\n\r\n")
        if not found or len(body) < int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0]):
            return
        self._buffer = b""
        now = time.perf_counter()
        if not head.startswith(b"HTTP/1.1 200"):
            self._failed((head + body).decode())
            self._done = True
            self._transport.close()
            return
        answer = _decode(body)
        self._findings.sent += self._reports
        self._reports = 1
        if now >= self._findings.measure_from:
            self._findings.latencies.append(now - self._began)
            self._findings.answered_at.append(now - self._findings.measure_from)
            self._findings.ungranted += not answer.grants
        if now + answer.next_beat_s >= self._stop_at:
            self._done = True
            self._transport.close()
        else:
            self._loop.call_later(answer.next_beat_s, self._beat)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._done:
            self._failed(str(exc or "the scheduler closed the connection"))

    def _failed(self, why: str) -> None:
        self._findings.failures += 1
        self._findings.first_failure = self._findings.first_failure or why


def _loss(iteration: int) -> float:
    return 1.0 / (1 + iteration) + 0.01


async def run(port: int, first: int, count: int, ramp_s: float, seconds: float) -> Findings:
    """Start the agents evenly over the ramp, let all of them beat, and stop them together."""
    loop = asyncio.get_running_loop()
    began = time.perf_counter()
    stop_at = began + ramp_s + seconds
    findings = Findings(began + ramp_s)
    for number in range(count):
        await asyncio.sleep(max(began + 0.7 * ramp_s * number / count - time.perf_counter(), 0.0))
        agent = SimulatedAgent(first + number, findings, stop_at)
        await loop.create_connection(lambda agent=agent: agent, "127.0.0.1", port)  # type: ignore[misc]
    await asyncio.sleep(max(stop_at - time.perf_counter(), 0.0) + 1.0)
    return findings


def main() -> None:
    """See the module."""
    port, first, count = map(int, sys.argv[1:4])
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        findings = runner.run(run(port, first, count, float(sys.argv[4]), float(sys.argv[5])))
    facts = findings.__dict__ | {"cpu_s": time.process_time(), "lived_s": float(sys.argv[4]) + float(sys.argv[5])}
    json.dump(facts, sys.stdout)


if __name__ == "__main__":
    main()

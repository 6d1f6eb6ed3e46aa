"""A scheduler for tests: grants every job the same cores and keeps what it was told."""

import threading
import time
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import msgspec

from slaq.protocol import PROTOCOL, Answer, Beat, Declaration, Report


class ConstantScheduler:
    """Listens on a free port of the loopback; `cores` is what each job gets."""

    def __init__(self, cores: float) -> None:
        self.cores = cores
        self.declared: dict[str, Declaration] = {}
        self.reports: dict[str, list[Report]] = defaultdict(list)
        self.held: dict[str, list[tuple[float, float]]] = defaultdict(list)
        """Core-seconds that the tasks of each job had held, with the time of the beat that said so."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, beat: Beat) -> Answer:
        for job in beat.jobs:
            if job.declared is not None:
                self.declared[job.id] = job.declared
            if job.held_core_s is not None:
                self.held[job.id].append((time.monotonic(), job.held_core_s))
            self.reports[job.id] += job.reports[max(len(self.reports[job.id]) - job.first, 0) :]
        return Answer(
            protocol=PROTOCOL,
            incarnation=1,
            epoch=1,
            lease_s=10.0,
            next_beat_s=0.3,
            grants={job.id: self.cores for job in beat.jobs if job.ended is None},
            saved=[job.id for job in beat.jobs if job.ended is not None],
        )

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        scheduler = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                answer = msgspec.json.encode(scheduler.answer(msgspec.json.decode(body, type=Beat)))
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                pass

        return Handler

"""A server that gives fixed answers, for what a real scheduler does not say on demand."""

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

from slaq.protocol import PROTOCOL, Capacity, JobView, Status


class Stub(HTTPServer):
    """Answers every request with `answer`: a status and a body."""

    answer: tuple[int, bytes] = (200, b"")

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.tokens: list[str | None] = []
        self.endpoint = f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Stub

    def do_GET(self) -> None:
        self.server.tokens.append(self.headers["Authorization"])
        status, body = self.server.answer
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def running_stub() -> Iterator[Stub]:
    with Stub() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def status(**changes: object) -> Status:
    """The status of a scheduler with nothing to do."""
    zero = dict.fromkeys(Status.__struct_fields__, 0)
    texts = {"version": "1.2.3", "protocol": PROTOCOL, "policy": "fair", "problems": [], "jobs": {}}
    return Status(**{**zero, **texts, "capacity": Capacity(4, "fixed"), "mean_loss": None, **changes})


def view(**changes: object) -> JobView:
    """A job of which nothing is known but its id."""
    texts = dict.fromkeys(("app", "app_name", "user", "name", "estimator", "group", "reason"), "")
    none = dict.fromkeys(("max_cores", "iteration", "first_loss", "loss", "normalised_loss", "target_loss", "ended_at"))
    zero = dict.fromkeys(("cores", "core_s", "began_at", "seen_at"), 0.0)
    known = {"id": "a-1", "state": "running", "ml": True, "weight": 1.0, "diverged": False, "reports": 0}
    return JobView(**{**texts, **none, **zero, **known, **changes})

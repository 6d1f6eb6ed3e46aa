"""Views from a scheduler to the commands that show them: a screen or a sentence, and plain text."""

import contextlib
import http.server
import io
import threading
from random import Random
from typing import Any

import click

from slaq.bench._fuzz_requests import CONTROLS
from slaq.bench._fuzzing import BrokenError
from slaq.bench._grammar import TEXTS, Draw, drawer, message
from slaq.errors import SlaqError
from slaq.protocol import Dump, JobDetail, JobList, JobView, Status, routes

COMMANDS = (
    ("status",),
    ("jobs",),
    ("jobs", "--format", "csv"),
    ("jobs", "--format", "json"),
    ("job", "app0001-1"),
    ("job", "app0001-1", "--format", "json"),
    ("explain", "app0001-1"),
    ("top", "--once"),
    ("dump",),
    ("version",),
    ("hold", "app0001-1"),
)


class _Stub(http.server.HTTPServer):
    """Answers with what was drawn for a path."""

    bodies: dict[str, bytes]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Stub

    def do_GET(self) -> None:
        """See http.server."""
        path = self.path.partition("?")[0]
        found = "PATCH" if self.command == "PATCH" else path if path in self.server.bodies else routes.JOB
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.bodies[found])))
        self.end_headers()
        self.wfile.write(self.server.bodies[found])

    do_PATCH = do_GET  # noqa: N815 - the name is http.server's

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Screens:
    """The commands of a group, at the other end of which sits the fuzzer."""

    name = "screens"

    def __init__(self, root: click.Group) -> None:
        self._root, self._stub = root, _Stub()
        self._endpoint = f"http://127.0.0.1:{self._stub.server_address[1]}"
        threading.Thread(target=self._stub.serve_forever, args=(0.05,), daemon=True).start()
        texts = ("name", "user", "app_name", "estimator", "group", "reason", "sentence", "error", "problem", "policy")
        fixed: dict[str, Draw] = dict.fromkeys(texts, _text)
        kinds: dict[str, Any] = {
            routes.STATUS: Status,
            routes.JOBS: JobList,
            routes.JOB: JobDetail,
            routes.DUMP: Dump,
            "PATCH": JobView,
        }
        self._draws = {path: drawer(kind, fixed) for path, kind in kinds.items()}

    def case(self, random: Random) -> str:
        """See Target.case."""
        right = random.random() < 0.5
        self._stub.bodies = {path: message(random, draw, spoil=not right) for path, draw in self._draws.items()}
        words = [*random.choice(COMMANDS), "--endpoint", self._endpoint]
        out, outcome = io.StringIO(), "shown"
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                self._root.main(words, "slaq", standalone_mode=False)
        except SlaqError as error:
            outcome = "refused"
            out.write(str(error))
        except Exception as error:
            raise BrokenError(f"{words}: {type(error).__name__}: {error}") from error
        if found := CONTROLS.search(out.getvalue()):
            raise BrokenError(f"{words} printed {out.getvalue()[max(found.start() - 40, 0) :][:80]!r}")
        return outcome

    def check(self) -> None:
        """A screen leaves nothing behind."""

    def close(self) -> None:
        """See Target.close."""
        self._stub.shutdown()
        self._stub.server_close()


def _text(random: Random) -> str:
    return random.choice(TEXTS).encode("utf-8", "replace").decode() if random.random() < 0.3 else "alice"

"""Requests to the scheduler's application: every route, message, header and sender, in this process."""

import asyncio
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from random import Random
from urllib.parse import unquote_to_bytes

import msgspec

from slaq.bench._fuzzing import BrokenError
from slaq.bench._request_grammar import ADMIN, MARK, OPEN_PATHS, OWNER, USERS, Asked, RequestGrammar
from slaq.config import Config, LimitsConfig, SchedulerConfig, UserConfig
from slaq.protocol import PROTOCOL, Beat, Declaration, Dump, Failure, JobBeat, JobList, Report, Status, routes
from slaq.scheduler.api import build
from slaq.scheduler.core import Scheduler
from slaq.scheduler.guard import App, Guard, Message, Scope

LIMITS = LimitsConfig(applications=30, jobs=300, jobs_per_application=20, body_bytes=16_384, requests_per_s=1e6)
CASES_PER_EPOCH = 200
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What would move a terminal's cursor or turn its text around; none of it may come back."""
_STRINGS = msgspec.json.Decoder().decode


class Requests:
    """A scheduler with tokens and one honest job in it; its clock moves by the cases."""

    def __init__(self, tokens: bool) -> None:
        self.name = "requests" if tokens else "requests without tokens"
        self._folder = tempfile.TemporaryDirectory()
        self.now_s, self._since_epoch, self._seq = 100.0, 0, 0
        self.grammar = RequestGrammar(tokens)
        config = self._config(Path(self._folder.name)) if tokens else _config({})
        self.scheduler = Scheduler(config, clock=lambda: self.now_s, wall=lambda: 1e9 + self.now_s)
        self.app: App = Guard(build(self.scheduler, lambda: True), config)
        self._loop = asyncio.new_event_loop()
        self.check()

    def case(self, random: Random) -> str:
        """See Target.case."""
        asked = self.grammar.draw(random)
        before = self._state()
        status, headers, body = self._loop.run_until_complete(exchange(self.app, asked))
        self._judge(asked, status, headers, body)
        if status >= 400 and self._state() != before:
            raise BrokenError(f"{asked.head} was refused with {status} and changed the state")
        self._since_epoch += 1
        if self._since_epoch >= CASES_PER_EPOCH:
            self._epoch()
        return str(status)

    def check(self) -> None:
        """The honest job is there, its driver is answered, limits hold, every view can be read."""
        self._epoch()
        self._honest_beat()
        for path, kind in ((routes.STATUS, Status), (f"{routes.JOBS}?limit=1000", JobList), (routes.DUMP, Dump)):
            status, _, body = self._ask_as_admin(path)
            if status != 200:
                raise BrokenError(f"GET {path} answered {status}")
            msgspec.json.decode(body, type=kind)
            _printable(path, body)
        live = self.scheduler.intake
        if len(live.apps) > LIMITS.applications or len(live.jobs) > LIMITS.jobs:
            raise BrokenError(f"{len(live.apps)} applications and {len(live.jobs)} jobs are above the limits")
        counters, problems = self.scheduler.counters(), self.scheduler.status().problems
        if counters.rejected_events or counters.policy_failures:
            raise BrokenError(f"{counters}, {problems}")

    def close(self) -> None:
        """See Target.close."""
        self._loop.close()
        self.scheduler.close()
        self._folder.cleanup()

    def _config(self, folder: Path) -> Config:
        files = {}
        for name, token in {**USERS, "admin": ADMIN}.items():
            files[name] = folder / name
            files[name].touch(0o600)
            files[name].write_text(token, "ascii")
        users = {name: UserConfig(token_file=str(files[name]), serves_others=name == "server") for name in USERS}
        return _config(users, str(files["admin"]))

    def _epoch(self) -> None:
        self._since_epoch = 0
        self.now_s += 1.0
        self.scheduler.decide()

    def _state(self) -> tuple[object, ...]:
        """What a refused request must not change: the engine's record is a new object whenever anything in it is."""
        self.scheduler.recorder.flush()
        live = self.scheduler.intake
        seen = [(app.seq, len(app.jobs), len(app.over)) for app in live.apps.values()]
        return self.scheduler.recorder.state, live.beats, live.reports, live.dropped, len(live.jobs), seen

    def _judge(self, asked: Asked, status: int, headers: Mapping[bytes, bytes], body: bytes) -> None:
        if status >= 500:
            raise BrokenError(f"{asked.head} was answered with {status}: {body[:200]!r}")
        public = asked.path in OPEN_PATHS or asked.path.startswith("/ui")
        if status < 300 and not asked.known and not public:
            raise BrokenError(f"{asked.head} was let in without a token: {status}")
        of_ours = status >= 400 and not asked.path.startswith("/ui") and asked.method != "HEAD"
        if of_ours and not msgspec.json.decode(body, type=Failure).error:
            raise BrokenError(f"{asked.head} was refused with {status} and no sentence")
        large = sum(map(len, asked.parts)) > LIMITS.body_bytes
        if large and asked.method in ("POST", "PATCH") and status not in (401, 403, 413, 415):
            raise BrokenError(f"{asked.head} is larger than the limit and was answered with {status}")
        if MARK in body and not asked.admin:
            raise BrokenError(f"{asked.head} showed another user's job")
        if body and headers.get(b"content-type", b"").startswith(b"application/json"):
            _printable(asked.head, body)

    def _honest_beat(self) -> None:
        self._seq += 1
        declared = Declaration(name=MARK.decode(), estimator="KMeans") if self._seq % 10 == 1 else None
        jobs = [JobBeat("1", declared, self._seq - 1, [Report(1.0 / self._seq)])]
        beat = Beat(PROTOCOL, "honest1", self._seq, user=OWNER, jobs=jobs, cores=8.0)
        asked = self.grammar.right("POST", routes.BEAT, msgspec.json.encode(beat), USERS[OWNER])
        status, _, body = self._loop.run_until_complete(exchange(self.app, asked))
        if status != 200 or self.scheduler.intake.jobs["honest1-1"].user != OWNER:
            raise BrokenError(f"the honest driver's beat was answered with {status}: {body[:200]!r}")

    def _ask_as_admin(self, path: str) -> tuple[int, Mapping[bytes, bytes], bytes]:
        return self._loop.run_until_complete(exchange(self.app, self.grammar.right("GET", path, b"", ADMIN)))


def _config(users: dict[str, UserConfig], token_file: str = "") -> Config:
    scheduler = SchedulerConfig(capacity=16, lease_s=20.0)
    return Config(scheduler=scheduler, users=users, token_file=token_file, limits=LIMITS)


async def exchange(app: App, asked: Asked) -> tuple[int, Mapping[bytes, bytes], bytes]:
    """What an ASGI application answers: status, headers, and the body as far as it came before we hung up."""
    waiting: list[Message] = [
        {"type": "http.request", "body": part, "more_body": number < len(asked.parts) - 1}
        for number, part in enumerate(asked.parts)
    ]
    status, headers, body = 0, {}, bytearray()

    async def receive() -> Message:
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        nonlocal status, headers
        if message["type"] == "http.response.start":
            status, headers = message["status"], dict(message["headers"])
        else:
            body.extend(message.get("body", b""))

    await app(scope_of(asked), receive, send)
    return status, headers, bytes(body)


def scope_of(asked: Asked) -> Scope:
    """The scope a server would make of a request."""
    raw, _, query = asked.target.partition(b"?")
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": asked.method,
        "scheme": "http",
        "path": unquote_to_bytes(raw).decode("utf-8", "replace"),
        "raw_path": raw,
        "query_string": query,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in asked.headers],
        "client": ("127.0.0.1", 40000),
        "server": ("127.0.0.1", 7527),
    }


def _printable(asked: str, body: bytes) -> None:
    """No text in an answer may carry control characters."""
    if b"\\u" not in body and CONTROLS.search(body.decode()) is None:
        return
    stack = [_STRINGS(body)]
    while stack:
        found = stack.pop()
        if isinstance(found, dict):
            stack += [*found, *found.values()]
        elif isinstance(found, list):
            stack += found
        elif isinstance(found, str) and CONTROLS.search(found):
            raise BrokenError(f"{asked} was answered with the text {found[:80]!r}")

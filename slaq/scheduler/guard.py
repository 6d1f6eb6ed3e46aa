"""The guard before every route: who asks, how large, how often, and from what page in a browser.

Plain ASGI instead of a stack of middleware: thousands of beats a second pass through here.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

import msgspec

from slaq.config import Config
from slaq.protocol import Failure
from slaq.protocol.routes import BEAT, HEALTH, SESSION
from slaq.records import LOOPBACK
from slaq.scheduler.auth import Principal, Tokens
from slaq.scheduler.page.files import is_page
from slaq.scheduler.page.sessions import Sessions, session_in

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

PRINCIPAL, BODY = "slaq.principal", "slaq.body"
"""Where a scope carries who asks, and the whole body."""
SESSIONS, TOKENS = "slaq.sessions", "slaq.tokens"
"""Where it carries the sessions of browsers and the tokens."""
MOST_ASKERS = 10_000
PAGE_FILES = 20
"""So many files of the page count as one request: a browser asks for all of them at once."""
_WITH_BODY = ("POST", "PATCH")
JSON = [(b"content-type", b"application/json")]
_HEADERS = [
    *JSON,
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
]


class Guard:
    """Lets requests through that are small, rare and allowed; every other gets a Failure."""

    def __init__(self, app: App, config: Config) -> None:
        self._app = app
        self._asked: dict[object, float] = {}
        self._second = 0
        self._host = config.scheduler.host
        self._sessions = Sessions()
        self.reconfigure(config)

    def reconfigure(self, config: Config) -> None:
        """Go on with another configuration; a SlaqError leaves the old one in force."""
        self._tokens = Tokens(config, self._host)
        self._limits = config.limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        refused = self.refusal(scope, scope["headers"])
        if refused is None:
            scope[BODY] = await self._body(scope, receive)
            if scope[BODY] is not None:
                await self._app(scope, receive, send)
                return
            refused = 413, f"the body is larger than {self._limits.body_bytes} bytes; send less at a time"
        await respond(send, refused[0], msgspec.json.encode(Failure(refused[1])))

    def refusal(self, scope: Scope, pairs: Iterable[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        """Why a request with these headers is refused; if it is not, the scope carries who asks."""
        headers = dict(pairs)
        return self._stranger(scope, headers) or self._wrong_body(scope, headers) or self._too_often(scope)

    @property
    def body_bytes(self) -> int:
        """The largest body."""
        return self._limits.body_bytes

    def _stranger(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        scope[SESSIONS], scope[TOKENS] = self._sessions, self._tokens
        if scope["path"] == HEALTH:
            scope[PRINCIPAL] = None
            return None
        authorization = headers.get(b"authorization", b"")
        session = "" if authorization else session_in(headers.get(b"cookie", b""))
        if session:
            principal = self._tokens.behind(self._sessions.digest(session))
        else:
            principal = self._tokens.principal(authorization)
        if principal is None and not _open_to_all(scope):
            return (
                401,
                "this token is not known here" if authorization else "a token is needed (Authorization: Bearer …)",
            )
        scope[PRINCIPAL] = principal
        if (foreign := _foreign(scope, headers, bool(session))) is not None:
            return foreign
        host, origin = headers.get(b"host", b""), headers.get(b"origin")
        # A page somewhere else must not use a browser on this host to get at a scheduler without tokens.
        if not self._tokens.required and _hostname(host) not in LOOPBACK:
            return 403, f"this scheduler answers to {', '.join(LOOPBACK)} only"
        if origin is not None and origin.partition(b"://")[2] != host:
            return 403, "requests from other sites' pages are refused"
        return None

    def _wrong_body(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        if scope["method"] not in _WITH_BODY:
            return None
        if headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != b"application/json":
            return 415, "send the body as application/json"
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length[:20]) > self._limits.body_bytes:
            return 413, f"the body is larger than {self._limits.body_bytes} bytes; send less at a time"
        return None

    def _too_often(self, scope: Scope) -> tuple[int, str] | None:
        """Beats are counted for each application, when it is known which one it is."""
        if scope["path"] == HEALTH or (scope["path"] == BEAT and scope["method"] == "POST"):
            return None
        second = int(time.monotonic())
        if second != self._second or len(self._asked) > MOST_ASKERS:
            self._second, self._asked = second, {}
        principal: Principal | None = scope[PRINCIPAL]
        asker = (
            principal.user
            if principal is not None and principal.user is not None
            else (scope.get("client") or ("",))[0]
        )
        weight = 1.0 / PAGE_FILES if is_page(scope["path"]) else 1.0
        count = self._asked[asker] = self._asked.get(asker, 0.0) + weight
        if count > self._limits.requests_per_s:
            return 429, f"more than {self._limits.requests_per_s:g} requests in a second; ask less often"
        return None

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """The whole body; None if it is too large."""
        if scope["method"] not in _WITH_BODY:
            return b""
        parts, size, more = [], 0, True
        while more:
            message = await receive()
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._limits.body_bytes:
                return None
            more = message.get("more_body", False)
        return parts[0] if len(parts) == 1 else b"".join(parts)


async def respond(send: Send, status: int, body: bytes, headers: list[tuple[bytes, bytes]] = _HEADERS) -> None:
    """A JSON answer."""
    headers = [*headers, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _open_to_all(scope: Scope) -> bool:
    """Whether a route needs no token: the page's files, and the login."""
    return is_page(scope["path"]) or (scope["path"] == SESSION and scope["method"] in ("POST", "DELETE"))


def _foreign(scope: Scope, headers: dict[bytes, bytes], session: bool) -> tuple[int, str] | None:
    """Refuse what a page of another site makes a browser send; only links to the page itself may come from anywhere.

    A browser sends a session's cookie by itself, so a change by session must show that our own page sent it.
    """
    site = headers.get(b"sec-fetch-site")
    if site not in (None, b"same-origin", b"none") and not is_page(scope["path"]):
        return 403, "requests from other sites' pages are refused"
    if session and scope["method"] not in ("GET", "HEAD") and site != b"same-origin" and b"origin" not in headers:
        return 403, "a change by session must come from the scheduler's own page; send a token instead"
    return None


def _hostname(host: bytes) -> str:
    """The name in a Host header, without the port."""
    text = host.decode("latin-1").lower()
    return text[1 : text.find("]")] if text.startswith("[") else text.partition(":")[0]

"""The grammar of requests: the routes as they are documented, right in most parts and wrong in some."""

from dataclasses import dataclass
from random import Random
from urllib.parse import quote, urlencode

from slaq.bench._grammar import KEYS, TEXTS, drawer, message, odd
from slaq.protocol import PROTOCOL, Beat, Change, JobView, routes
from slaq.records import ENDINGS, LIVING
from slaq.scheduler.page.routes import Login

OWNER, MARK = "olga", b"only-olga-may-read-this"
"""Whose honest job it is, and its name."""
ADMIN = "token-of-the-administrator"
USERS = {name: f"token-of-{name}-0123456789" for name in (OWNER, "alice", "bob", "server")}
STRANGERS = ("", "token-of-nobody-0123456789", ADMIN + "x", ADMIN[:-1], "x" * 5000, "\xff\xfe")
ROUTES = (*(path for name, path in vars(routes).items() if name.isupper()), "/", "/ui/", "/ui/main.js")
OPEN_PATHS = (routes.HEALTH, routes.SESSION, "/")
METHODS = ("GET", "POST", "PATCH", "DELETE", "HEAD", "PUT", "OPTIONS", "TRACE", "get", "X" * 30)
TYPES = (b"application/json", b"application/json; charset=utf-8", b"text/plain", b"", b"multipart/form-data", b"\xff")
LENGTHS = (b"0", b"-1", b"1e3", b"99999999999999999999999", b"0x10", b"", b" 5 ", b"\xb2")
HEADERS = (b"host", b"origin", b"cookie", b"sec-fetch-site", b"authorization", b"transfer-encoding", b"x-forwarded-for")
JOBS = ("honest1-1", "app0001-1", "app0002-fit-7", "app0001", "nobody-1", "../status", "%2e%2e", "1" * 3000)
HOST = b"127.0.0.1:7527"
LARGE = 20_000
"""More than the largest body."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request."""

    method: str
    target: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    parts: tuple[bytes, ...]
    """The body as it arrives."""
    path: str
    known: bool
    """Whether the sender gave a token that is valid, or needs none."""
    admin: bool
    """Whether the sender may see everything."""

    @property
    def head(self) -> str:
        """Which request it was, for people."""
        return f"{self.method} {self.target[:200].decode('latin-1')} {self.headers!r} {b''.join(self.parts)[:300]!r}"


class RequestGrammar:
    """Draws requests to a scheduler with tokens or without."""

    def __init__(self, tokens: bool) -> None:
        self._tokens = tokens
        self._seq = 0
        fixed = {"protocol": lambda _: PROTOCOL, "seq": self._next, "params": _params}
        fixed |= dict.fromkeys(("name", "user", "estimator", "group", "unstoppable"), _name)
        self._beat = drawer(Beat, fixed)
        self._bodies = {routes.BEAT: self._beat, routes.JOB: drawer(Change), routes.SESSION: drawer(Login)}

    def draw(self, random: Random) -> Asked:
        """One request."""
        beats = random.random() < 0.6
        route = routes.BEAT if beats else random.choice(ROUTES)
        method = random.choice(METHODS) if random.random() < 0.1 else _method(random, route)
        path = _path(random, route)
        body = message(random, self._bodies.get(route, self._beat)) if method in ("POST", "PATCH", "PUT") else b""
        if random.random() < 0.002:
            body += b" " * LARGE
        token, valid = self._sender(random)
        headers = _headers(random, body)
        if token:
            headers.append((b"authorization", b"Bearer " + token.encode("latin-1")))
        known = valid or not self._tokens
        query = _query(random) if random.random() < 0.5 and route == routes.JOBS else b""
        return Asked(
            method,
            quote(path, safe="/%").encode() + query,
            tuple(headers),
            _parts(random, body),
            path,
            known,
            not self._tokens or token == ADMIN,
        )

    def right(self, method: str, path: str, body: bytes, token: str) -> Asked:
        """A request with nothing wrong in it."""
        headers = [(b"host", HOST), (b"content-type", TYPES[0]), (b"content-length", b"%d" % len(body))]
        headers += [(b"authorization", f"Bearer {token}".encode())] * self._tokens
        return Asked(method, path.encode(), tuple(headers), (body,), path, True, token == ADMIN)

    def _next(self, random: Random) -> int:
        self._seq += 1
        return self._seq - (random.random() < 0.1)

    def _sender(self, random: Random) -> tuple[str, bool]:
        """A token, and whether it is valid; nobody of ours has the owner's."""
        if random.random() < 0.2:
            return random.choice(STRANGERS), False
        user = random.choice(("alice", "bob", "server", "admin"))
        return USERS.get(user, ADMIN), True


def _name(random: Random) -> str:
    return random.choice(TEXTS)[:200] if random.random() < 0.3 else random.choice(("alice", "bob", "fit", ""))


def _params(random: Random) -> dict[str, object]:
    return {_name(random)[:40]: random.choice((1.0, True, _name(random)[:40])) for _ in range(random.randrange(3))}


def _method(random: Random, route: str) -> str:
    if route == routes.BEAT:
        return "POST"
    choices = {routes.JOB: ("GET", "PATCH"), routes.SESSION: ("GET", "POST", "DELETE")}
    return random.choice(choices.get(route, ("GET",)))


def _path(random: Random, route: str) -> str:
    path = route.replace("{id}", random.choice(JOBS))
    if random.random() < 0.05:
        odd_text = random.choice(TEXTS).encode("utf-8", "replace").decode()[:3000]
        path = random.choice((path + "/", path + "//", f"{path}/{odd_text}", odd_text, path.upper(), f"/{path}"))
    return path


def _query(random: Random) -> bytes:
    right = {
        "user": ("alice", "bob", OWNER),
        "state": (*LIVING, *ENDINGS, "active"),
        "sort": tuple(sign + field for field in JobView.__struct_fields__ for sign in ("", "-")),
        "limit": ("0", "10", "1000"),
        "offset": ("0", "5"),
    }
    chosen = [(name, random.choice(right[name])) for name in random.sample(list(right), random.randint(1, 3))]
    if random.random() < 0.4:
        name = random.choice([*right, *KEYS])
        chosen.append((name, str(odd(random)).encode("utf-8", "replace").decode()[:2000]))
    text = urlencode(chosen).encode()
    return b"?" + (text if random.random() < 0.9 else text + random.choice((b"&%", b"&=&&", b"&limit=\xff", b"#")))


def _headers(random: Random, body: bytes) -> list[tuple[bytes, bytes]]:
    kind = random.choice(TYPES) if random.random() < 0.05 else TYPES[0]
    length = random.choice(LENGTHS) if random.random() < 0.03 else b"%d" % len(body)
    headers = [(b"host", HOST), (b"content-type", kind), (b"content-length", length)]
    if random.random() < 0.1:
        value = random.choice(TEXTS).encode("utf-8", "replace")[:300].translate(None, b"\r\n\x00")
        headers.append(
            (random.choice(HEADERS), random.choice((value, b"slaq_session=" + value, b"cross-site", b"null")))
        )
    return headers


def _parts(random: Random, body: bytes) -> tuple[bytes, ...]:
    if random.random() < 0.8 or not body:
        return (body,)
    at = random.randrange(len(body))
    return body[:at], b"", body[at:]

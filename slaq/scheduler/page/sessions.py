"""Sessions of browsers: a random name in a cookie that stands for a token, which the browser never keeps."""

import secrets
import time
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie

COOKIE = "slaq_session"
LONGEST_S = 12 * 3600.0
"""A session ends after a working day."""
MOST = 1000
"""Sessions at once; of more the oldest end."""
MOST_OF_ONE = 20
"""Sessions of one token at once, so that no user ends those of others."""


class Sessions:
    """The digest of the token behind each session."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, tuple[bytes, float]] = {}

    def open(self, digest: bytes) -> str:
        """A new session for a token."""
        name = secrets.token_urlsafe(32)
        own = [other for other, (token, _) in self._known.items() if token == digest]
        for other in own[: len(own) + 1 - MOST_OF_ONE]:
            self.close(other)
        self._known[name] = digest, self._clock() + LONGEST_S
        while len(self._known) > MOST:
            self._known.pop(next(iter(self._known)))
        return name

    def digest(self, name: str) -> bytes | None:
        """The token behind a session; None: there is no such session any more."""
        digest, until_s = self._known.get(name, (None, 0.0))
        if digest is not None and self._clock() > until_s:
            self.close(name)
            return None
        return digest

    def close(self, name: str) -> None:
        """End a session."""
        self._known.pop(name, None)


def session_in(cookies: bytes) -> str:
    """The session in a `Cookie` header; empty: none."""
    if COOKIE.encode() not in cookies:
        return ""
    try:
        found = SimpleCookie(cookies.decode("latin-1")).get(COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value


def cookie(name: str, secure: bool, seconds: float = LONGEST_S) -> str:
    """The `Set-Cookie` header of a session: out of reach of scripts, of other sites, and of every path but the API."""
    return f"{COOKIE}={name}; Path=/v1; HttpOnly; SameSite=Strict; Max-Age={int(seconds)}{'; Secure' * secure}"

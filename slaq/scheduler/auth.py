"""Who is asking: tokens and the users behind them."""

import hashlib
from dataclasses import dataclass

from slaq.config import Config, read_token
from slaq.errors import SlaqError
from slaq.records import LOOPBACK


@dataclass(frozen=True, slots=True)
class Principal:
    """Who sends a request."""

    user: str | None
    """None: the user that the request itself names."""
    admin: bool
    serves: bool = False
    """May name the user of each job of their applications."""

    @property
    def sees(self) -> str | None:
        """The user whose jobs they may see and change; None: everyone's."""
        return None if self.admin else self.user


EVERYONE = Principal(None, True)
"""Without tokens, which needs a loopback address, every client is an administrator."""


class Tokens:
    """The tokens of a configuration. Only digests are kept, so that a lookup tells nothing by its duration."""

    def __init__(self, config: Config, host: str) -> None:
        """`host` is the address that we listen on, which another configuration does not change."""
        self._known: dict[bytes, Principal] = {}
        for name, user in config.users.items():
            if user.token_file:
                self._add(user.token_file, Principal(name, user.admin, user.serves_others))
        if config.token_file:
            self._add(config.token_file, EVERYONE)
        if not self._known and host not in LOOPBACK:
            raise SlaqError(f"the scheduler listens on {host!r}, which others can reach; set token_file")

    @property
    def required(self) -> bool:
        """Whether requests need a token."""
        return bool(self._known)

    def principal(self, authorization: bytes) -> Principal | None:
        """Who sends this `Authorization` header; None: unknown."""
        if not self._known:
            return EVERYONE
        kind, _, token = authorization.partition(b" ")
        return self._known.get(_digest(token.strip())) if kind.lower() == b"bearer" else None

    def find(self, token: bytes) -> tuple[bytes, Principal] | None:
        """The digest of a token, for a session, and whose it is; None: unknown."""
        digest = _digest(token)
        principal = self.behind(digest)
        return None if principal is None else (digest, principal)

    def behind(self, digest: bytes | None) -> Principal | None:
        """Who has the token of this digest, as long as the token is valid."""
        if not self._known:
            return EVERYONE
        return None if digest is None else self._known.get(digest)

    def _add(self, file: str, principal: Principal) -> None:
        digest = _digest(read_token(file).encode())
        if digest in self._known:
            raise SlaqError(f"the token in {file} is already another user's; give every user their own")
        self._known[digest] = principal


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()

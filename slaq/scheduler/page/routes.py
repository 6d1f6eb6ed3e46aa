"""The page's routes: its files, sessions and events."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from slaq.protocol import routes
from slaq.scheduler.guard import BODY, PRINCIPAL, SESSIONS, TOKENS
from slaq.scheduler.page import files
from slaq.scheduler.page.feed import Feed
from slaq.scheduler.page.sessions import cookie, session_in
from slaq.scheduler.refusal import UnauthorisedError

_NO_STORE = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


class Login(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the login form posts."""

    token: str


class Who(msgspec.Struct, frozen=True):
    """Who looks at the page."""

    user: str | None
    admin: bool
    tokens: bool
    """Whether this scheduler asks for tokens at all."""


_login = msgspec.json.Decoder(Login)


def page_routes(feed: Feed) -> list[Route]:
    """All of them."""

    async def events(request: Request) -> Response:
        feed.admit()
        stream = feed.stream(request.scope[PRINCIPAL].sees)
        return StreamingResponse(stream, 200, _NO_STORE, "text/event-stream")

    return [
        Route("/", files.to_page),
        Route(files.ROOT + "{name:path}", files.file),
        Route(routes.EVENTS, events),
        Route(routes.SESSION, who, methods=["GET"]),
        Route(routes.SESSION, log_in, methods=["POST"]),
        Route(routes.SESSION, log_out, methods=["DELETE"]),
    ]


async def who(request: Request) -> Response:
    """Who asks."""
    principal = request.scope[PRINCIPAL]
    return _json(Who(principal.user, principal.admin, request.scope[TOKENS].required))


async def log_in(request: Request) -> Response:
    """Exchange a token for a session."""
    tokens, given = request.scope[TOKENS], _login.decode(request.scope[BODY])
    found = tokens.find(given.token.strip().encode())
    if found is None:
        raise UnauthorisedError("this token is not known here; `slaq conf show` names the file that holds yours")
    digest, principal = found
    answer = _json(Who(principal.user, principal.admin, tokens.required))
    name = request.scope[SESSIONS].open(digest)
    answer.headers["set-cookie"] = cookie(name, request.url.scheme == "https")
    return answer


async def log_out(request: Request) -> Response:
    """End the session."""
    request.scope[SESSIONS].close(session_in(request.headers.get("cookie", "").encode("latin-1")))
    return Response(b"", 204, {**_NO_STORE, "set-cookie": cookie("", request.url.scheme == "https", 0)})


def _json(content: object) -> Response:
    return Response(msgspec.json.encode(content), 200, _NO_STORE, "application/json")

"""The routes (see `slaq.protocol.routes`): beats by the shortest way, everything else through Starlette."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from slaq.errors import SlaqError
from slaq.protocol import Beat, Change, Failure, routes
from slaq.protocol.names import printable
from slaq.records import LIVING
from slaq.scheduler.auth import Principal
from slaq.scheduler.connection import Headers, Reply
from slaq.scheduler.core import Scheduler
from slaq.scheduler.guard import BODY, PRINCIPAL, App, Guard, Receive, Scope, Send, respond
from slaq.scheduler.metrics import Metrics
from slaq.scheduler.page.feed import Feed
from slaq.scheduler.page.look_back import LookBack
from slaq.scheduler.page.routes import page_routes
from slaq.scheduler.query import STATES, JobQuery
from slaq.scheduler.refusal import ForbiddenError, RefusalError
from slaq.scheduler.store import Archive

log = logging.getLogger(__name__)

LARGEST_PAGE = 1000
SAVED_S, SAVED_TRIES = 1.0, 50
"""How long a change waits to be saved before it is answered."""

_encode = msgspec.json.Encoder(enc_hook=str).encode
_beat = msgspec.json.Decoder(Beat)
_change = msgspec.json.Decoder(Change)


def build(scheduler: Scheduler, healthy: Callable[[], bool], feed: Feed | None = None) -> App:
    """The application behind the guard; whoever gives a feed lets it run."""
    people = for_people(scheduler, healthy, feed or Feed(scheduler))

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == routes.BEAT and scope["method"] == "POST":
            await respond(send, *take_beat(scheduler, scope[BODY], scope[PRINCIPAL]))
        else:
            await people(scope, receive, send)

    return app


class BeatRoute:
    """Takes the beats that come by the shortest way, see `slaq.scheduler.connection`."""

    def __init__(self, scheduler: Scheduler, guard: Guard, before_beat: Callable[[], None]) -> None:
        """`before_beat` is called before every beat."""
        self._scheduler, self._guard, self._before_beat = scheduler, guard, before_beat

    @property
    def largest(self) -> int:
        """The largest body in bytes."""
        return self._guard.body_bytes

    def admit(self, headers: Headers) -> Callable[[bytearray], Reply] | Reply:
        """What replies to the body, or a refusal."""
        scope: Scope = {"path": routes.BEAT, "method": "POST"}
        refused = self._guard.refusal(scope, headers)
        if refused is not None:
            return refused[0], _encode(Failure(refused[1]))
        return partial(self._take, scope[PRINCIPAL])

    def _take(self, principal: Principal, body: bytearray) -> Reply:
        self._before_beat()
        return take_beat(self._scheduler, body, principal)


def take_beat(scheduler: Scheduler, body: bytes | bytearray, sender: Principal) -> Reply:
    """The reply to a beat; never raises."""
    try:
        return 200, _encode(scheduler.beat(_beat.decode(body), sender.user, sender.serves))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, SlaqError) as error:
        return _status(error), _encode(Failure(_sentence(error)))
    except Exception:
        log.exception("a beat failed")
        return 500, _encode(Failure("the scheduler failed; its log says why"))


def for_people(scheduler: Scheduler, healthy: Callable[[], bool], feed: Feed) -> Starlette:
    """All routes but the one of beats."""
    metrics = Metrics(scheduler)

    async def status(_: Request) -> Response:
        return _json(await run_in_threadpool(scheduler.status))

    async def jobs(request: Request) -> Response:
        return _json(await run_in_threadpool(lambda: scheduler.jobs(_query(request))))

    async def job(request: Request) -> Response:
        who = request.scope[PRINCIPAL].sees
        return _json(await run_in_threadpool(scheduler.job, request.path_params["id"], who))

    async def change(request: Request) -> Response:
        wanted = _change.decode(request.scope[BODY])
        who = request.scope[PRINCIPAL].sees
        view = await run_in_threadpool(scheduler.change, request.path_params["id"], wanted, who)
        await _saved(scheduler.archive)
        return _json(view)

    async def dump(request: Request) -> Response:
        if not request.scope[PRINCIPAL].admin:
            raise ForbiddenError("only an administrator may see everything")
        return _json(await run_in_threadpool(scheduler.dump))

    async def measure(_: Request) -> Response:
        return Response(await run_in_threadpool(metrics.text), media_type=metrics.media_type)

    async def health(_: Request) -> Response:
        return PlainTextResponse("ok\n") if healthy() else PlainTextResponse("no decision lately\n", 503)

    return Starlette(
        routes=[
            Route(routes.STATUS, status),
            Route(routes.JOBS, jobs),
            Route(routes.JOB, job, methods=["GET"]),
            Route(routes.JOB, change, methods=["PATCH"]),
            Route(routes.DUMP, dump),
            Route(routes.METRICS, measure),
            Route(routes.HEALTH, health),
            *page_routes(feed),
            *LookBack(scheduler).routes(),
        ],
        exception_handlers={
            SlaqError: _refused,
            msgspec.DecodeError: _refused,
            RecursionError: _refused,
            UnicodeDecodeError: _refused,
            HTTPException: _no_such_route,
            Exception: _failed,
        },
    )


async def _saved(archive: Archive) -> None:
    """Wait until what was just written survives a crash, but not for a disk that takes nothing."""
    ticket = archive.ticket()
    for _ in range(SAVED_TRIES):
        if archive.is_saved(ticket):
            return
        await asyncio.sleep(SAVED_S / SAVED_TRIES)


def _query(request: Request) -> JobQuery:
    """The query in the parameters of a request; a refusal names the invalid one."""
    asked = request.query_params
    unknown = set(asked) - {"user", "state", "sort", "limit", "offset"}
    if unknown:
        raise RefusalError(f"unknown parameter {min(unknown)!r}; there are user, state, sort, limit and offset")
    states: list[str] = []
    for name in asked.getlist("state"):
        states += LIVING if name == "active" else (name,)
    sees, user = request.scope[PRINCIPAL].sees, asked.get("user")
    if sees is not None and user not in (None, sees):
        raise ForbiddenError(f"you may see the jobs of {sees!r} only")
    return JobQuery(
        user=user if sees is None else sees,
        states=tuple(dict.fromkeys(states)) or STATES,
        sort=asked.get("sort", "-began_at"),
        limit=min(_whole(asked.get("limit", "100")), LARGEST_PAGE),
        offset=_whole(asked.get("offset", "0")),
    )


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise RefusalError(f"{text[:40]!r} is not a whole number from 0 on")
    return int(text)


def _json(content: object, status: int = 200) -> Response:
    headers = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
    return Response(_encode(content), status, headers, "application/json")


def _status(error: Exception) -> int:
    return getattr(error, "status", 400)


def _sentence(error: Exception) -> str:
    """What is wrong; it may repeat what was asked, and will be shown in a terminal."""
    return "the body is nested too deeply" if isinstance(error, RecursionError) else printable(str(error))


async def _refused(_: Request, error: Exception) -> Response:
    return _json(Failure(_sentence(error)), _status(error))


async def _no_such_route(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    asked = printable(f"{request.method} {request.scope['path']}")
    return _json(Failure(f"there is no {asked}; see the list of routes"), status)


async def _failed(_: Request, error: Exception) -> Response:
    log.error("a request failed", exc_info=error)
    return _json(Failure("the scheduler failed; its log says why"), 500)

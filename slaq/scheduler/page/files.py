"""The files of the page: a fixed list, read once, sent with headers that let nothing in from elsewhere."""

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from slaq.protocol import routes

ROOT = routes.PAGE
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".LICENSE": "text/plain; charset=utf-8",
}


def is_page(path: str) -> bool:
    """Whether a path belongs to the page's files, which hold nothing secret and need no token."""
    return path == "/" or path.startswith(ROOT)


async def to_page(_: Request) -> Response:
    """From `/` to the page."""
    return RedirectResponse(ROOT, headers=_HEADERS)


async def file(request: Request) -> Response:
    """One file of the page."""
    found = _contents().get(request.path_params["name"] or "index.html")
    if found is None:
        return Response("there is no such file\n", 404, _HEADERS, "text/plain")
    content, kind, tag = found
    if request.headers.get("if-none-match") == tag:
        return Response(b"", 304, {**_HEADERS, "etag": tag})
    return Response(content, 200, {**_HEADERS, "etag": tag, "content-type": kind})


@cache
def _contents() -> Mapping[str, tuple[bytes, str, str]]:
    """Content, type and tag by name."""
    found: dict[str, tuple[bytes, str, str]] = {}
    _gather(files("slaq.scheduler.page") / "static", "", found)
    return found


def _gather(folder: Traversable, prefix: str, found: dict[str, tuple[bytes, str, str]]) -> None:
    for entry in folder.iterdir():
        if entry.is_dir():
            _gather(entry, f"{prefix}{entry.name}/", found)
            continue
        kind = next((kind for ending, kind in _TYPES.items() if entry.name.endswith(ending)), None)
        if kind is not None:
            content = entry.read_bytes()
            found[prefix + entry.name] = content, kind, f'"{hashlib.sha256(content).hexdigest()[:16]}"'

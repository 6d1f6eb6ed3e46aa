"""Questions to the scheduler's HTTP application without a network."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import msgspec

from slaq.config import Config
from slaq.protocol import PROTOCOL, Beat
from slaq.scheduler.api import build
from slaq.scheduler.guard import Guard
from tests.scheduler.support import Bench


class Web(Bench):
    """The application behind its guard, on a scheduler whose clock we move."""

    def __init__(self, config: Config | None = None) -> None:
        super().__init__(config)
        self.guard = Guard(build(self.scheduler, lambda: True), self.config)

    def ask(self, method: str, path: str, *, token: str = "", **options: Any) -> httpx.Response:
        headers = options.pop("headers", {})
        if token:
            headers = headers | {"Authorization": f"Bearer {token}"}

        async def call() -> httpx.Response:
            transport = httpx.ASGITransport(self.guard, raise_app_exceptions=True)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:7527") as client:
                return await client.request(method, path, headers=headers, **options)

        return asyncio.run(call())

    def post_beat(self, *jobs: object, token: str = "", app: str = "app0001", **fields: Any) -> httpx.Response:
        self.seq += 1
        beat = Beat(PROTOCOL, app, fields.pop("seq", self.seq), jobs=list(jobs), **fields)
        body = msgspec.json.encode(beat)
        return self.ask("POST", "/v1/beat", token=token, content=body, headers={"Content-Type": "application/json"})


def token_file(folder: Path, name: str, token: str, mode: int = 0o600) -> str:
    file = folder / f"{name}.token"
    file.write_text(token + "\n")
    file.chmod(mode)
    return str(file)

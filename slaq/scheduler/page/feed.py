"""What the open pages show: looked at once a second, encoded once for all who see the same, never queued.

A page that is slow to read misses looks and gets the latest one next; nobody waits for it. The past few minutes are
kept, so that a page that is just opened can draw them.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator

import msgspec
from starlette.concurrency import run_in_threadpool

from slaq.scheduler.core import Scheduler
from slaq.scheduler.page.look import Look, Sample, look, sample
from slaq.scheduler.refusal import TooManyError

log = logging.getLogger(__name__)

LOOK_S = 1.0
"""Time between two looks."""
LOOK_COST = 20.0
"""Looks are so many times as far apart as one takes: at most a twentieth of a core goes into them."""
PAST = 600
"""Samples kept: ten minutes of looks."""
STREAM_S = 45.0
"""A stream ends after this time and the page comes again, with its session checked anew. Shorter than the time after
which `slaq.scheduler.connection` ends an answer that is not taken."""
MOST_STREAMS = 200
"""Pages open at once."""

_encode = msgspec.json.Encoder(enc_hook=str).encode


class Feed:
    """The latest look at the scheduler, and the past."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._past: deque[Sample] = deque(maxlen=PAST)
        self._looked = asyncio.Event()
        self._version = 0
        self._encoded: dict[tuple[str | None, bool], bytes] = {}
        """The latest look by who sees it, with the past or without; made when the first page wants it."""
        self._making = asyncio.Lock()
        self._closed = False
        self.streams = 0

    async def run(self) -> None:
        """Look at the scheduler for as long as the task runs."""
        while True:
            began_s = time.monotonic()
            try:
                self._past.append(await run_in_threadpool(sample, self._scheduler))
            except Exception:
                log.exception("the page's look at the scheduler failed")
            self._version += 1
            self._encoded = {}
            looked, self._looked = self._looked, asyncio.Event()
            looked.set()
            await asyncio.sleep(max(LOOK_S, LOOK_COST * (time.monotonic() - began_s)))

    def close(self) -> None:
        """End all streams; the pages come again when there is a scheduler again."""
        self._closed = True
        self._looked.set()

    def admit(self) -> None:
        """Refuse a page beyond the limit."""
        if self.streams >= MOST_STREAMS:
            raise TooManyError(f"{MOST_STREAMS} pages are open; close some")

    async def stream(self, sees: str | None) -> AsyncIterator[bytes]:
        """Server-sent events for somebody who sees the jobs of this user; None: everyone's."""
        self.streams += 1
        try:
            end_s = time.monotonic() + STREAM_S
            yield b"retry: 1000\n\n" + await self._message(sees, True)
            while not self._closed and time.monotonic() < end_s:
                await asyncio.wait_for(self._looked.wait(), STREAM_S)
                yield await self._message(sees, False)
        except TimeoutError:
            return
        finally:
            self.streams -= 1

    async def _message(self, sees: str | None, past: bool) -> bytes:
        async with self._making:
            made = self._encoded
            if (sees, past) not in made:
                made[sees, past] = await run_in_threadpool(self._make, sees, past)
            return made[sees, past]

    def _make(self, sees: str | None, past: bool) -> bytes:
        found: Look = look(self._scheduler, sees)
        samples = [each.seen_by(sees) for each in (list(self._past) if past else list(self._past)[-1:])]
        body = {"look": found, "samples": samples, "past": past}
        return b"event: look\ndata: " + _encode(body) + b"\n\n"

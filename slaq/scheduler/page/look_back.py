"""Questions about the past: a program of its own reads the decision log, so that no beat waits for it."""

import asyncio
import math
import os
import sys
from collections.abc import Mapping
from typing import TypeVar

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from slaq.protocol import routes
from slaq.protocol.past import Past, PastQuestion, PastSample, WhatIf
from slaq.scheduler.core import Scheduler
from slaq.scheduler.guard import PRINCIPAL
from slaq.scheduler.refusal import ForbiddenError, RefusalError, TooManyError, UnknownJobError

T = TypeVar("T")

PROGRAM = "slaq.sim.look_back"
"""Started by its name: the simulator, whose part of this is, and the scheduler do not import each other."""
ANSWER_S = 55.0
"""Shorter than the time after which `slaq.scheduler.connection` ends a connection."""
MOST_WAITING = 4
"""Questions at a time, answered one by one."""
LONGEST_S, LONGEST_WHAT_IF_S = 7 * 86_400.0, 6 * 3600.0


class Title(msgspec.Struct, frozen=True):
    """Whose job it is, and what people call it."""

    name: str
    user: str


class PastAnswer(msgspec.Struct, frozen=True):
    """The past, and the jobs in it that the asker may see."""

    past: Past
    titles: dict[str, Title]


class WhatIfAnswer(msgspec.Struct, frozen=True):
    """What another policy would have made of it, and the jobs in it."""

    what_if: WhatIf
    titles: dict[str, Title]


class LookBack:
    """Answers questions about the past."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._one = asyncio.Lock()
        self._waiting = 0

    def routes(self) -> list[Route]:
        """The routes of these questions."""
        return [Route(routes.PAST, self.past), Route(routes.WHAT_IF, self.what_if)]

    async def past(self, request: Request) -> Response:
        """The decisions of a time."""
        asked = dict(request.query_params)
        question = self._question(asked, LONGEST_S, jobs=asked.pop("jobs", "") == "1")
        found = await self._answer(question, Past)
        shown = _drawn(found.samples) | {job.id for job in found.jobs}
        sees = request.scope[PRINCIPAL].sees
        titles = await run_in_threadpool(self._titles, shown, sees)
        if sees is not None:
            found = msgspec.structs.replace(
                found,
                samples=[
                    PastSample(each.at, each.granted, [held for held in each.cores if held.id in titles])
                    for each in found.samples
                ],
                jobs=[job for job in found.jobs if job.id in titles],
            )
        return _json(PastAnswer(found, titles))

    async def what_if(self, request: Request) -> Response:
        """What another policy would have made of a time."""
        if not request.scope[PRINCIPAL].admin:
            raise ForbiddenError("what another policy would have made of everyone's jobs is for administrators")
        asked = dict(request.query_params)
        policy = asked.pop("policy", "")
        if not policy:
            raise RefusalError("give policy=, the name of the policy to try")
        found = await self._answer(self._question(asked, LONGEST_WHAT_IF_S, policy=policy), WhatIf)
        shown = _drawn(found.replayed) | _drawn(found.what_if)
        return _json(WhatIfAnswer(found, await run_in_threadpool(self._titles, shown, None)))

    def _question(
        self, asked: Mapping[str, str], longest_s: float, jobs: bool = False, policy: str = ""
    ) -> PastQuestion:
        unknown = set(asked) - {"from", "until", "jobs"}
        if unknown:
            raise RefusalError(f"unknown parameter {min(unknown)!r}")
        from_at, until_at = _instant(asked, "from"), _instant(asked, "until")
        if not 0.0 < until_at - from_at <= longest_s:
            raise RefusalError(f"from {from_at:g} until {until_at:g} is not a time of up to {longest_s / 3600:g} h")
        folder = self._scheduler.archive.log_folder()
        if folder is None:
            raise UnknownJobError(
                "this scheduler keeps no decision log: only `slaq scheduler` does, not one in a driver"
            )
        return PastQuestion(str(folder), from_at, until_at, jobs, policy)

    async def _answer(self, question: PastQuestion, kind: type[T]) -> T:
        if self._waiting >= MOST_WAITING:
            raise TooManyError("others ask about the past as well; ask again in a moment")
        self._waiting += 1
        try:
            async with self._one:
                return msgspec.json.decode(await _ask(question), type=kind)
        finally:
            self._waiting -= 1

    def _titles(self, keys: set[str], sees: str | None) -> dict[str, Title]:
        """The jobs that somebody may see who sees this user's; None: everyone's."""
        found: dict[str, Title] = {}
        for key in sorted(keys):
            with self._scheduler.locked():
                live = self._scheduler.intake.jobs.get(key)
            if live is not None:
                found[key] = Title(live.declared.name or live.declared.estimator or key, live.user)
            elif (row := self._scheduler.archive.load(key)) is not None:
                found[key] = Title(row.summary.name or row.summary.estimator or key, row.summary.user)
            elif sees is None:
                found[key] = Title(key, "")
        return {key: title for key, title in found.items() if sees is None or title.user == sees}


async def _ask(question: PastQuestion) -> bytes:
    """What the program answers; a RefusalError says why it does not."""
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", PROGRAM,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    try:
        async with asyncio.timeout(ANSWER_S):
            answer, said = await program.communicate(msgspec.json.encode(question))
    except TimeoutError:
        raise RefusalError(f"this takes longer than {ANSWER_S:.0f} s; choose a shorter time") from None
    finally:
        if program.returncode is None:
            program.kill()
            await program.wait()
    if program.returncode == 0:
        return answer
    if program.returncode is not None and program.returncode < 0:
        raise RefusalError("this takes more than one question may take; choose a shorter time")
    if program.returncode == 2:
        raise RefusalError(said.decode(errors="replace").strip()[-300:])
    raise RuntimeError(f"{PROGRAM} ended with {program.returncode}: {said.decode(errors='replace')[-2000:]}")


def _drawn(samples: list[PastSample]) -> set[str]:
    return {held.id for sample in samples for held in sample.cores}


def _instant(asked: Mapping[str, str], name: str) -> float:
    try:
        value = float(asked.get(name, ""))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise RefusalError(f"{name}={asked.get(name, '')[:40]!r} is no time; give seconds since 1970")
    return value


def _json(content: object) -> Response:
    headers = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
    return Response(msgspec.json.encode(content), 200, headers, "application/json")

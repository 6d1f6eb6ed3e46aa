"""Messages out of order: old requests come long after newer ones, old answers instead of new ones."""

import asyncio
from collections import deque
from random import Random

from slaq.bench._chaos.faults.network import network_fault
from slaq.bench._chaos.proxy import CutError, Line, Send, Trick
from slaq.bench._chaos.world import World

KEPT = 50
LATER_S = 4.0


def _reorder(world: World, chance: Random) -> Trick:
    requests: deque[bytes] = deque(maxlen=KEPT)
    answers: dict[Line, deque[bytes]] = {}

    async def late(request: bytes) -> None:
        await asyncio.sleep(chance.uniform(0.0, LATER_S))
        line = Line(world.proxy)
        try:
            await line.send(request)
        except CutError:
            pass
        finally:
            line.close()

    async def trick(line: Line, send: Send, request: bytes) -> bytes:
        requests.append(request)
        fate = chance.random()
        if fate < 0.3:
            world.proxy.later(late(chance.choice(requests)))
        if fate < 0.15:
            raise CutError  # it arrives later, or never
        answer = await send(request)
        seen = answers.setdefault(line, deque(maxlen=5))
        seen.append(answer)
        return chance.choice(seen) if chance.random() < 0.3 else answer

    return trick


KINDS = [network_fault("reordered messages", _reorder)]

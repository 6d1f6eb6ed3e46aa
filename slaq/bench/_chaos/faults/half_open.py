"""Half-open connections: they are there, take everything, and nothing ever comes back."""

import asyncio
from random import Random

from slaq.bench._chaos.faults.network import network_fault
from slaq.bench._chaos.proxy import CutError, Line, Send, Trick
from slaq.bench._chaos.world import World

FOR_S = 5.0


def _half_open(_world: World, chance: Random) -> Trick:
    async def trick(line: Line, _send: Send, request: bytes) -> bytes:
        if chance.random() < 0.5:
            await line.send_part(request[: len(request) // 2])
        await asyncio.sleep(FOR_S)
        raise CutError

    return trick


KINDS = [network_fault("half-open connections", _half_open)]

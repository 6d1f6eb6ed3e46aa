"""A slow network: requests and answers take their time, some longer than an agent waits."""

import asyncio
from random import Random

from slaq.bench._chaos.faults.network import network_fault
from slaq.bench._chaos.proxy import Line, Send, Trick
from slaq.bench._chaos.world import World


def _slow(_world: World, chance: Random) -> Trick:
    async def trick(_line: Line, send: Send, request: bytes) -> bytes:
        await asyncio.sleep(chance.uniform(0.0, 0.4))
        answer = await send(request)
        await asyncio.sleep(chance.uniform(0.0, 0.4))
        return answer

    return trick


KINDS = [network_fault("slow network", _slow)]

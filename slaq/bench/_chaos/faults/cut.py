"""Connections that end in the middle: of a request on its way there, or of an answer on its way back."""

from random import Random

from slaq.bench._chaos.faults.network import network_fault
from slaq.bench._chaos.proxy import CutError, Line, Send, Trick
from slaq.bench._chaos.world import World


def _cut(_world: World, chance: Random) -> Trick:
    async def trick(line: Line, send: Send, request: bytes) -> bytes:
        fate = chance.random()
        if fate < 0.3:
            await line.send_part(request[: chance.randrange(len(request))])
            raise CutError
        answer = await send(request)
        if fate < 0.6:
            return answer[: chance.randrange(len(answer))] if fate < 0.45 else b""
        return answer

    return trick


KINDS = [network_fault("cut connections", _cut)]

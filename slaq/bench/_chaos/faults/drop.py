"""Messages that are dropped: the request, or the answer to a request that did arrive."""

from random import Random

from slaq.bench._chaos.faults.network import network_fault
from slaq.bench._chaos.proxy import CutError, Line, Send, Trick
from slaq.bench._chaos.world import World


def _drop(_world: World, chance: Random) -> Trick:
    async def trick(_line: Line, send: Send, request: bytes) -> bytes:
        fate = chance.random()
        if fate < 0.3:
            raise CutError
        answer = await send(request)
        if fate < 0.6:
            raise CutError
        return answer

    return trick


KINDS = [network_fault("dropped messages", _drop)]

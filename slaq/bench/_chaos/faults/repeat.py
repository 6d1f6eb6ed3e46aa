"""Messages that are repeated: requests reach the scheduler several times."""

from random import Random

from slaq.bench._chaos.faults.network import network_fault
from slaq.bench._chaos.proxy import Line, Send, Trick
from slaq.bench._chaos.world import World


def _repeat(_world: World, chance: Random) -> Trick:
    async def trick(_line: Line, send: Send, request: bytes) -> bytes:
        answers = [await send(request) for _ in range(chance.randint(1, 3))]
        return chance.choice(answers)

    return trick


KINDS = [network_fault("repeated messages", _repeat, loosens=False)]

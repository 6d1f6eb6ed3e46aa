"""Peers of other versions: a scheduler that speaks another protocol, and agents that do."""

import urllib.error
import urllib.request
from random import Random

from slaq.bench._chaos.faults.kind import FaultKind, Mend, nothing
from slaq.bench._chaos.faults.network import network_fault
from slaq.bench._chaos.plan import Kind
from slaq.bench._chaos.proxy import Line, Send, Trick
from slaq.bench._chaos.world import World
from slaq.config import read_token
from slaq.protocol import PROTOCOL
from slaq.protocol.routes import BEAT

_MINE = f'"protocol":{PROTOCOL},'.encode()


def _other(chance: Random) -> int:
    return chance.choice((0, PROTOCOL - 1, PROTOCOL + 1, 99))


def _scheduler(_world: World, chance: Random) -> Trick:
    """Its answers name another version; a field stays as long as it was, so that the message stays whole."""
    other = f'"protocol":{_other(chance) % 10},'.encode()

    async def trick(_line: Line, send: Send, request: bytes) -> bytes:
        return (await send(request)).replace(_MINE, other, 1)

    return trick


def _agent(world: World, chance: Random, _part: str) -> Mend:
    """An agent of another version is refused with a status that tells it so."""
    body = b'{"protocol":%d,"app":"otherversion","seq":1,"jobs":[]}' % _other(chance)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {read_token(world.token('alice'))}"}
    try:
        urllib.request.urlopen(
            urllib.request.Request(f"http://127.0.0.1:{world.port}{BEAT}", body, headers), timeout=5.0
        ).close()
        world.surprises.append("an agent of another version was answered")
    except urllib.error.HTTPError as refusal:
        if refusal.code != 426:
            world.surprises.append(f"an agent of another version was refused with {refusal.code}, not 426")
    except OSError:
        pass  # nobody is there at the moment
    return nothing


KINDS = [
    network_fault("scheduler of another version", _scheduler, longest_s=1.5),
    FaultKind(Kind("agent of another version", "scheduler"), _agent, loosens=False),
]

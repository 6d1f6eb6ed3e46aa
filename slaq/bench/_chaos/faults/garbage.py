"""Answers that no scheduler gives: noise, errors, JSON of another shape, numbers that make no sense."""

from random import Random

from slaq.bench._chaos.faults.network import network_fault
from slaq.bench._chaos.proxy import Line, Send, Trick
from slaq.bench._chaos.world import World

_HEAD = '"protocol":2,"incarnation":9007199254740992,"epoch":1'
BODIES = (
    b"",
    b"null",
    b"[]",
    b"<html>502 Bad Gateway</html>",
    b'{"protocol":2}',
    b"{" + _HEAD.encode() + b',"lease_s":-1,"next_beat_s":1}',
    b"{" + _HEAD.encode() + b',"lease_s":1e300,"next_beat_s":1}',
    b"{" + _HEAD.encode() + b',"lease_s":5,"next_beat_s":1,"grants":{"1":-4}}',
    b"{" + _HEAD.encode() + b',"lease_s":5,"next_beat_s":"soon"}',
    b"[" * 100_000,
    b"\xff\xfe" * 1000,
)
STATUSES = ("200 OK", "204 No Content", "301 Moved", "429 Too Many Requests", "500 Oops", "502 Bad Gateway", "503 Busy")


def _garbage(_world: World, chance: Random) -> Trick:
    async def trick(_line: Line, send: Send, request: bytes) -> bytes:
        fate = chance.random()
        if fate < 0.3:
            return await send(request)
        if fate < 0.5:
            return chance.randbytes(chance.randrange(1, 4000)) + b"\r\n\r\n"
        body, status = chance.choice(BODIES), chance.choice(STATUSES)
        return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body

    return trick


KINDS = [network_fault("garbage answers", _garbage)]

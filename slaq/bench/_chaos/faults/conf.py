"""SIGHUP: with a conf file that is broken, with a token that is not, and with another policy."""

import time
from random import Random

from slaq.bench._chaos.faults.kind import FaultKind, Mend, nothing
from slaq.bench._chaos.parts import write_token
from slaq.bench._chaos.plan import Kind
from slaq.bench._chaos.world import World, await_true

HEARD_S = 10.0
BROKEN = (
    "[scheduler\n",
    "[scheduler]\nlease_s = -1\n",
    "[scheduler]\nepoch_s = \"soon\"\n",
    "[scheduler]\npolicy = \"best\"\n",
    "token_file = \"/nowhere\"\n",
    "\x00\xff",
)  # fmt: skip
POLICIES = ("finish-line", "max-total", "fair", "max-min")


def _said(world: World, words: bytes, before: int) -> bool:
    return await_true(lambda: words in world.scheduler.log.read_bytes()[before:], HEARD_S)


def _broken(world: World, chance: Random, _part: str) -> Mend:
    good = world.conf.read_bytes()
    world.conf.write_text(chance.choice(BROKEN), "latin-1")
    before = world.scheduler.log.stat().st_size
    world.hang_up()
    # With a full disk or a limit to its log it cannot say so.
    if not _said(world, b"not reloaded", before) and not world.limited:
        world.surprises.append("the scheduler did not say that it refused a broken conf file")
    world.conf.write_bytes(good)
    return nothing


def _policy(world: World, chance: Random, _part: str) -> Mend:
    before = world.scheduler.log.stat().st_size
    world.write_conf(chance.choice(POLICIES))
    world.hang_up()
    _said(world, b"was reloaded", before)
    return nothing


def _tokens(world: World, _chance: Random, _part: str) -> Mend:
    """Agents first, or scheduler first: the file is the same here, only SIGHUP comes late."""
    write_token(world.token("alice"))
    write_token(world.token("admin"))
    time.sleep(0.1)
    return world.hang_up


KINDS = [
    FaultKind(Kind("broken conf", "scheduler"), _broken, loosens=False),
    FaultKind(Kind("another policy", "scheduler"), _policy, loosens=False),
    FaultKind(Kind("token rotation", "scheduler", (0.0, 1.5)), _tokens),
]

"""The process that the plugin starts beside a driver: `python -m slaq.driver.sidecar`, port and token on stdin.

It runs the driver loop over a py4j gateway of its own and ends when stdin does, that is, with the driver.
"""

import logging
import signal
import sys
import time
from typing import Any, TextIO

import msgspec
from py4j.java_gateway import GatewayParameters, JavaGateway

from slaq.config import load
from slaq.driver.connect import Connection
from slaq.sdk.courier import Board
from slaq.driver.loop import DriverLoop
from slaq.driver.notices import log
from slaq.errors import SlaqError
from slaq.spark.bridge import Bridge

BOARD_ENDED = 50
"""Ended jobs on the board; the journal holds all."""


class _Mail(msgspec.Struct):
    asked: bool
    mail: list[list[dict[str, Any]]]


class Post:
    """The sidecar's side of the desk."""

    def __init__(self, desk: Any) -> None:
        self._desk = desk
        self._asked = False
        self._heard_at = 0.0
        self.loop: DriverLoop | None = None

    def take(self) -> list[dict[str, Any]]:
        """Fetch the mail; renew the board if somebody reads it."""
        board, self._heard_at = self._board() if self._asked else "", time.time()
        text = self._desk.exchange(board)
        got = msgspec.json.decode(text, type=_Mail)
        self._asked = got.asked
        return [event for letter in got.mail for event in letter]

    def _board(self) -> str:
        assert self.loop is not None
        jobs = self.loop.statuses()
        running = [job for job in jobs if job.state == "running"]
        ended = [job for job in jobs if job.state != "running"]
        cancelled = [job.id for job in running if self.loop.cancelled(job.id)]
        board = Board(self._heard_at, [*ended[-BOARD_ENDED:], *running], cancelled)
        return msgspec.json.encode(board).decode()


def run(lines: TextIO) -> None:
    """Serve one driver until `lines` ends."""
    port, token = lines.readline().split()
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=int(port), auth_token=token))
    desk = gateway.entry_point
    settings = {str(key): str(value) for key, value in desk.settings().items()}
    config = load(spark=settings)
    java_bridge = desk.bridge()
    if java_bridge is None:
        raise SlaqError("the bridge is not installed in this driver")
    bridge = Bridge(java_bridge)
    bridge.set_strict(config.strict)
    post = Post(desk)
    name, user = settings["spark.app.name"], config.user or settings["user"]
    with Connection(config, name, user) as connection:
        loop = DriverLoop(bridge, connection.agent, config, name, post.take)
        post.loop = loop
        loop.start()
        lines.read()  # blocks until the driver closes the pipe, or is gone
        loop.stop()


def main() -> None:
    """What the plugin starts; a mistake in the settings is one sentence, and the application runs without SLAQ."""
    # Ctrl-C goes to the whole foreground group; the driver decides when this process ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    try:
        run(sys.stdin)
    except SlaqError as error:
        log.warning("SLAQ is off in this application: %s", error)


if __name__ == "__main__":
    main()

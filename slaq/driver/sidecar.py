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
from slaq.driver.board import Board
from slaq.driver.connect import Connection
from slaq.driver.event_files import event_logger
from slaq.driver.loop import DriverLoop
from slaq.driver.notices import log, once
from slaq.errors import SlaqError
from slaq.spark.bridge import Bridge
from slaq.spark.records import FitEvent, decode_letter

BOARD_ENDED = 50
"""Ended jobs on the board; the journal holds all."""


class _Exchanged(msgspec.Struct):
    asked: bool
    dropped: int
    letters: list[str]


class DeskMailbox:
    """The sidecar's side of the desk: the application's events in, the board out."""

    def __init__(self, desk: Any) -> None:
        self._desk = desk
        self._asked = False
        self._acked = 0
        self._read_at = self._heard_at = 0.0
        self.loop: DriverLoop | None = None

    def read(self) -> list[FitEvent]:
        """See Mailbox.read; renews the board if the application has asked for it."""
        board, self._read_at = self._board() if self._asked else "", time.time()
        text = self._desk.exchange(board, self._acked)
        exchanged = msgspec.json.decode(text, type=_Exchanged)
        self._asked = exchanged.asked
        events: list[FitEvent] = []
        malformed = 0
        for letter in exchanged.letters:
            found, unreadable = decode_letter(letter)
            events += found
            malformed += unreadable
        if malformed:
            once("malformed", "%d events of the application could not be read and were skipped", malformed)
        if exchanged.dropped:
            once("desk", "%d batches of reports were dropped before they were read", exchanged.dropped)
        return events

    def acknowledge(self, seq: int) -> None:
        """See Mailbox.acknowledge; sent with the next read."""
        self._acked, self._heard_at = seq, self._read_at

    def _board(self) -> str:
        if self.loop is None:
            return ""
        jobs = self.loop.statuses()
        running = [job for job in jobs if job.state == "running"]
        ended = [job for job in jobs if job.state != "running"]
        cancelled = [job.id for job in running if self.loop.cancelled(job.id)]
        stopping = [job.id for job in running if self.loop.stopping(job.id)]
        standings = {job.id: standing for job in running if (standing := self.loop.standing(job.id)) is not None}
        board = Board(self._heard_at, [*ended[-BOARD_ENDED:], *running], cancelled, standings, stopping)
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
    mailbox = DeskMailbox(desk)
    name, user = settings["spark.app.name"], config.user or settings["user"]
    trackers = [event_logger(config.tensorboard, name)] if config.tensorboard else []
    with Connection(config, name, user) as connection:
        _serve_page(connection)
        heard = [tracker.happened for tracker in trackers]
        loop = DriverLoop(bridge, connection.agent, config, name, mailbox, heard=heard)
        mailbox.loop = loop
        loop.start()
        lines.read()  # blocks until the driver closes the pipe, or is gone
        loop.stop()
    for tracker in trackers:
        tracker.close()


def _serve_page(connection: Connection) -> None:
    try:
        connection.serve_page()
    except Exception as error:  # whatever it is, jobs are scheduled without a page as well
        log.warning("SLAQ: %s. The application runs without the page", error)
    else:
        if connection.page is not None:
            log.warning("SLAQ: the page of this application is at %s", connection.page.address)


def main() -> None:
    """What the plugin starts. After a mistake in the settings, which is logged, the application runs without SLAQ."""
    # Ctrl-C goes to the whole foreground group; the driver decides when this process ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    try:
        run(sys.stdin)
    except SlaqError as error:
        log.warning("SLAQ is off in this application: %s", error)


if __name__ == "__main__":
    main()

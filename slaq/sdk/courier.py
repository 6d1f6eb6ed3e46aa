"""From the application's Python process to the driver loop in the sidecar: reports there, the state of jobs back."""

import atexit
import threading
import time
from contextlib import AbstractContextManager
from typing import Any

import msgspec
from pyspark import SparkContext

from slaq.config import load
from slaq.driver.board import Board
from slaq.driver.early import EarlyRule
from slaq.driver.loop import early_rule
from slaq.driver.notices import once
from slaq.driver.status import JobStatus
from slaq.records import Standing
from slaq.sdk.host import PoolHost
from slaq.sdk.registry import Registry
from slaq.spark.bridge import Bridge
from slaq.spark.load import on_class_path

SIDECAR_CLASS = "io.slaq.sidecar.Sidecar"
ROUND_S = 0.1
ANSWER_S = 3.0
"""How long `slaq.jobs()` waits for a fresh board."""


_decode = msgspec.json.Decoder(Board).decode


class Courier(PoolHost):
    """The host of a process whose driver loop runs in the plugin's sidecar."""

    def __init__(self, context: SparkContext, desk: Any, bridge: Bridge, early: EarlyRule, registry: Registry) -> None:
        super().__init__(context, bridge)
        self.early = early
        self._desk, self._registry = desk, registry
        self._cancelled: frozenset[str] = frozenset()
        self._stopping: frozenset[str] = frozenset()
        self._standings: dict[str, Standing] = {}
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="slaq-courier", daemon=True)
        self._thread.start()
        atexit.register(self._leave)

    def enter(self, job_id: str) -> AbstractContextManager[None]:
        """See Host.enter; the job is announced before any fit inside it."""
        self._deliver(False)
        return super().enter(job_id)

    def ended(self) -> None:
        """See Host.ended: the application may be about to stop Spark."""
        self._deliver(False)

    def statuses(self) -> list[JobStatus]:
        """See Host.statuses."""
        board = self._deliver(True)
        posted_at, give_up = time.time(), time.monotonic() + ANSWER_S
        while (board is None or board.heard_at < posted_at) and time.monotonic() < give_up:
            time.sleep(ROUND_S / 2)
            board = self._deliver(True)
        return [] if board is None else board.jobs

    def standing(self, job_id: str) -> Standing | None:
        """See Host.standing."""
        return self._standings.get(job_id)

    def cancelled(self, job_id: str) -> bool:
        """See Host.cancelled."""
        return job_id in self._cancelled

    def stopping(self, job_id: str) -> bool:
        """See Host.stopping."""
        return job_id in self._stopping

    def _run(self) -> None:
        while self.alive():
            self._deliver(any(not job.ended for job in self._registry.jobs()))
            time.sleep(ROUND_S)

    def _leave(self) -> None:
        """The program ends: inferred jobs end with it, and their last reports are posted."""
        self._registry.end_inferred()
        self._deliver(False)

    def _deliver(self, ask: bool) -> Board | None:
        """Post everything that is not at the desk yet; with `ask`, also if there is nothing, to read the board.

        Events are acknowledged when the desk has taken them. After a failed post they go again, and the desk or the
        driver loop recognises by their numbers what had arrived.
        """
        try:
            with self._lock:
                events = self._registry.read()
                if not (events or ask) or not self.alive():
                    return None
                last = events[-1].seq if events else 0
                text = self._desk.post(last, msgspec.json.encode(events).decode() if events else "")
                self._registry.acknowledge(last)
            board = _decode(text) if text else None
            if board is not None:
                self._cancelled, self._stopping = frozenset(board.cancelled), frozenset(board.stopping)
                self._standings = board.standings
            return board
        except Exception as error:
            if self.alive():
                once("courier", "reports do not reach the plugin's agent (%r); they are sent again", error)
            return None


def find_courier(registry: Registry) -> Courier | None:
    """The courier for the Spark context of this process, if the plugin started a sidecar for it."""
    if isinstance(registry.host, Courier) and registry.host.alive():
        return registry.host
    context = SparkContext._active_spark_context
    if context is None or context._jsc is None:
        return None
    jvm: Any = context._jvm
    if not on_class_path(jvm, SIDECAR_CLASS):
        return None
    desk = jvm.io.slaq.sidecar.Sidecar.desk()
    java_bridge = jvm.io.slaq.bridge.Bridge.current()
    if desk is None or java_bridge is None:
        return None
    early = early_rule(load(spark=dict(context.getConf().getAll())))
    return Courier(context, desk, Bridge(java_bridge), early, registry)

"""From the application's Python process to the driver loop beside its JVM: reports there, the state of jobs back."""

import atexit
import threading
import time
from contextlib import AbstractContextManager
from typing import Any

import msgspec
from pyspark import SparkContext

from slaq.config import load
from slaq.driver.early import EarlyRule
from slaq.sdk.host import PoolHost
from slaq.driver.loop import early_rule
from slaq.sdk.registry import Registry
from slaq.driver.notices import once
from slaq.driver.status import JobStatus
from slaq.spark.bridge import Bridge
from slaq.spark.load import on_class_path

SIDECAR_CLASS = "io.slaq.sidecar.Sidecar"
ROUND_S = 0.1
ANSWER_S = 3.0
"""How long `slaq.jobs()` waits for a fresh board."""


class Board(msgspec.Struct, frozen=True):
    """What the sidecar shows to the application."""

    heard_at: float
    """Everything posted before this time is on the board."""
    jobs: list[JobStatus] = []
    cancelled: list[str] = []


_decode = msgspec.json.Decoder(Board).decode


class Courier(PoolHost):
    """The host of a process whose driver loop runs in the plugin's sidecar."""

    def __init__(self, context: SparkContext, desk: Any, bridge: Bridge, early: EarlyRule, registry: Registry) -> None:
        super().__init__(context, bridge)
        self.early = early
        self._desk, self._registry = desk, registry
        self._cancelled: frozenset[str] = frozenset()
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

    def cancelled(self, job_id: str) -> bool:
        """See Host.cancelled."""
        return job_id in self._cancelled

    def _run(self) -> None:
        while self.alive():
            self._deliver(any(not job.ended for job in self._registry.jobs()))
            time.sleep(ROUND_S)

    def _leave(self) -> None:
        """The program ends: jobs that nobody closes end with it, and their last reports go out."""
        self._registry.end_inferred()
        self._deliver(False)

    def _deliver(self, ask: bool) -> Board | None:
        """Take everything new to the desk; with `ask`, also when there is nothing."""
        try:
            with self._lock:
                events = self._registry.take()
                if not (events or ask) or not self.alive():
                    return None
                text = self._desk.post(msgspec.json.encode(events).decode() if events else "")
            board = _decode(text) if text else None
            if board is not None:
                self._cancelled = frozenset(board.cancelled)
            return board
        except Exception as error:
            if self.alive():
                once("courier", "reports do not reach the plugin's agent (%s); training goes on", error)
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

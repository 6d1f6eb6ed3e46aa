"""`slaq.attach(spark)`: SLAQ in a notebook or script whose Spark session already runs; `slaq.detach()` undoes it."""

import atexit
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from slaq.config import Config, load
from slaq.driver.connect import Connection
from slaq.driver.early import EarlyRule
from slaq.driver.event_files import event_logger
from slaq.driver.loop import DriverLoop, finished_fits
from slaq.driver.notices import log
from slaq.driver.status import JobStatus
from slaq.driver.tracking import RunLogger
from slaq.errors import SlaqError
from slaq.records import Standing
from slaq.sdk.courier import Courier, find_courier
from slaq.sdk.host import PoolHost
from slaq.sdk.mlflow_runs import follow_runs, forget_runs, run_logger
from slaq.sdk.registry import REGISTRY
from slaq.sdk.reported import Host
from slaq.spark.bridge import Bridge
from slaq.spark.records import FitEvent

_lock = threading.RLock()
_current: "Attachment | None" = None


class LocalHost(PoolHost):
    """The host of a process whose driver loop runs in a thread of its own."""

    def __init__(self, context: SparkContext, loop: DriverLoop) -> None:
        super().__init__(context, loop.bridge)
        self._loop = loop

    @property
    def early(self) -> EarlyRule:
        """See Host.early."""
        return self._loop.early

    def ended(self) -> None:
        """See Host.ended: the loop is in this process and reads the end with its next turn."""

    def statuses(self) -> list[JobStatus]:
        """See Host.statuses."""
        return self._loop.statuses()

    def standing(self, job_id: str) -> Standing | None:
        """See Host.standing."""
        return self._loop.standing(job_id)

    def cancelled(self, job_id: str) -> bool:
        """See Host.cancelled."""
        return self._loop.cancelled(job_id)

    def stopping(self, job_id: str) -> bool:
        """See Host.stopping."""
        return self._loop.stopping(job_id)


class Attachment:
    """What `attach` returns: a sentence for the notebook, and a context manager for scripts and tests."""

    def __init__(self, context: SparkContext, host: Host, about: str) -> None:
        self.context, self.host, self._about = context, host, about
        self.loop: DriverLoop | None = None
        self.connection: Connection | None = None
        self.trackers: list[RunLogger] = []

    @classmethod
    def start(cls, spark: SparkSession, flags: dict[str, Any]) -> "Attachment":
        """Connect, install the bridge and start the driver loop; if anything fails, Spark is as it was."""
        context = spark.sparkContext
        config = load(spark=dict(context.getConf().getAll()), flags=flags)
        name = context.appName or "spark"
        # First, because these may refuse: a wrong token or address must not leave pools behind.
        connection = Connection(config, name, config.user or context.sparkUser())
        try:
            connection.serve_page()
            trackers = [run_logger()] if config.mlflow else []
            trackers += [event_logger(config.tensorboard, name)] if config.tensorboard else []
            loop = _loop(spark, config, name, connection, [tracker.happened for tracker in trackers])
        except BaseException:
            connection.close()
            raise
        attachment = cls(context, LocalHost(context, loop), f"attached to {name}; {connection}")
        attachment.loop, attachment.connection, attachment.trackers = loop, connection, trackers
        if config.mlflow:
            follow_runs(context)
        loop.start()
        return attachment

    def stop(self) -> None:
        """End the loop and give Spark its own pools back; a sidecar of the plugin stays."""
        if self.loop is not None and self.connection is not None:
            forget_runs()
            self.loop.stop()
            self.connection.close()
            if self.host.alive():
                self.loop.bridge.close()
        for tracker in self.trackers:
            tracker.close()

    def __repr__(self) -> str:
        return f"SLAQ: {self._about}"

    def __enter__(self) -> "Attachment":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        detach()


def attach(spark: SparkSession | None = None, **settings: Any) -> Attachment:
    """Schedule the training runs of a running Spark session by what they gain.

    Without a session the active one is taken. Settings are keys of the configuration (`endpoint`, `ui`, `progress`,
    `early_answer` …; `policy`, `epoch_s` and `capacity` for the embedded scheduler) and win over Spark's. Attaching
    again to the same session changes nothing and returns what the first call did.
    """
    global _current
    session = spark or SparkSession.getActiveSession() or SparkSession._instantiatedSession
    if session is None:
        raise SlaqError(
            "no Spark session is running: create one with SparkSession.builder.getOrCreate(), then slaq.attach(spark)"
        )
    if not hasattr(session, "sparkContext"):
        raise SlaqError(
            f"slaq.attach was given {session!r}; give a SparkSession whose driver this is, or nothing for the active "
            "one (for Spark Connect start the server with the plugin)"
        )
    with _lock, REGISTRY.finding:
        if _current is not None and _current.host.alive():
            if settings:
                log.warning("SLAQ: already attached; slaq.detach() first to change settings")
            return _current
        detach()
        courier = find_courier(REGISTRY)
        if courier is not None:
            if settings:
                log.warning("SLAQ: the plugin follows the application's configuration; attach's settings do not count")
            _current = _through(courier, session.sparkContext)
        else:
            _current = Attachment.start(session, _flags(settings))
        REGISTRY.host = _current.host
        return _current


def detach() -> None:
    """Undo `attach`: jobs run on, at full speed, in Spark's own pools. Does nothing without an attachment."""
    global _current
    with _lock:
        attachment, _current = _current, None
        if attachment is None:
            return
        REGISTRY.end_inferred()
        attachment.stop()
        REGISTRY.host = None


def _through(courier: Courier, context: SparkContext) -> Attachment:
    return Attachment(context, courier, "the plugin of this application already does the work, reports go there")


def _loop(
    spark: SparkSession, config: Config, name: str, connection: Connection, heard: Sequence[Callable[[FitEvent], None]]
) -> DriverLoop:
    """The driver loop on a bridge in the session; without one of them there is none of the other."""
    context = spark.sparkContext
    jvm_process = getattr(context._gateway, "proc", None)

    def alive() -> bool:
        return context._jsc is not None and (jvm_process is None or jvm_process.poll() is None)

    bridge = Bridge.install(spark, strict=config.strict)
    try:
        past = finished_fits(bridge)
        return DriverLoop(bridge, connection.agent, config, name, REGISTRY, alive, past, heard)
    except BaseException:
        bridge.close()
        raise


def _flags(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings by key name; those of the embedded scheduler may go by their short names."""
    return {_SHORT.get(name, name): value for name, value in settings.items()}


_SHORT = {
    "policy": "scheduler.policy",
    "predictor": "scheduler.predictor",
    "epoch": "scheduler.epoch_s",
    "epoch_s": "scheduler.epoch_s",
    "lease_s": "scheduler.lease_s",
    "capacity": "scheduler.capacity",
    "archive": "scheduler.archive",
    "budget_time_s": "budget.time_s",
    "budget_core_time_s": "budget.core_time_s",
}

atexit.register(detach)

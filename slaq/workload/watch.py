"""The losses that the probe saw, the same way under every policy; and what SLAQ granted, where it is attached."""

import json
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from slaq.workload.results import Sample

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POLL_S = 0.2


class Seen:
    """One fit as the probe saw it; times are in seconds since the watch began."""

    def __init__(self, event: dict[str, Any], watch_began: float) -> None:
        self.uid: str = event.get("uid") or ""
        self.estimator: str = event.get("estimator") or ""
        self.params: dict[str, Any] = event.get("params") or {}
        self.began_s: float = event["beginMillis"] / 1e3 - watch_began
        self.ended_s: float | None = None
        self.curve: list[tuple[float, float]] = []


class Watch:
    """Collects the events of all fits, found by their estimator's uid; every method may be called from any thread."""

    def __init__(self, began: float) -> None:
        self._began = began
        self._lock = threading.Lock()
        self._uids: dict[str, str] = {}
        self._fits: dict[str, Seen] = {}
        self._reported: dict[str, list[tuple[float, float]]] = {}
        self._samples: list[Sample] = []
        self._latest: dict[str, Sample] = {}
        self._applied = 0

    def begin(self, began: float) -> None:
        """Set the clock anew; what was seen before is forgotten."""
        with self._lock:
            self._began = began
            self._fits.clear()
            self._samples.clear()

    def events(self, events: list[dict[str, Any]]) -> None:
        """Add what the probe reported; an event that is read twice counts once."""
        with self._lock:
            for event in events:
                number = event.get("seq", self._applied + 1)
                if number > self._applied:
                    self._applied = number
                    self._apply(event)

    def _apply(self, event: dict[str, Any]) -> None:
        if event["event"] == "begin":
            self._fits[event["job"]] = Seen(event, self._began)
            return
        fit = self._fits.get(event["job"])
        if fit is None:
            return
        at_s = fit.began_s + event["nanos"] * 1e-9
        if event["event"] == "end":
            fit.ended_s = at_s
        elif event["value"] is not None:
            fit.curve.append((at_s, event["value"]))

    def report(self, name: str, loss: float) -> None:
        """Add a loss of a job that reports by itself."""
        with self._lock:
            self._reported.setdefault(name, []).append((time.time() - self._began, loss))

    def expect(self, name: str, uid: str) -> None:
        """Note which job an estimator, or the pool of a job that reports by itself, belongs to."""
        with self._lock:
            self._uids[uid] = name

    def sample(self, usages: list[Any]) -> None:
        """Add the usage of every pool."""
        at_s = time.time() - self._began
        with self._lock:
            for usage in usages:
                fit = self._fits.get(usage.job)
                name = self._uids.get(fit.uid if fit else usage.job)
                if name is not None:
                    seen = Sample(at_s, name, usage.cores, usage.held_s, usage.borrowed_s, usage.pending)
                    self._samples.append(seen)
                    self._latest[name] = seen

    def curve(self, name: str) -> list[tuple[float, float]]:
        """(seconds since the stream began, loss) of one job so far."""
        with self._lock:
            fits = [fit for fit in self._fits.values() if self._uids.get(fit.uid) == name]
            return [*self._reported.get(name, ()), *(point for fit in fits for point in fit.curve)]

    def fits(self) -> list[Seen]:
        """Every fit with a loss curve, in the order in which they began."""
        with self._lock:
            return [fit for fit in self._fits.values() if fit.curve]

    def samples(self) -> tuple[Sample, ...]:
        """All samples so far."""
        with self._lock:
            return tuple(self._samples)

    def latest(self) -> dict[str, Sample]:
        """The newest sample of each job."""
        with self._lock:
            return dict(self._latest)

    def elapsed_s(self) -> float:
        """Seconds since the stream began."""
        return time.time() - self._began


def poll_probe(spark: "SparkSession", watch: Watch, stop: threading.Event) -> None:
    """Drain the probe's events into `watch` until `stop` is set: the losses of a run without SLAQ."""
    jvm: Any = spark._jvm
    drain: Callable[[int], str] = jvm.io.slaq.probe.Events.drain
    while True:
        last = stop.wait(POLL_S)
        watch.events(json.loads(drain(100_000)))
        if last:
            return


def watch_attachment(attachment: Any, watch: Watch) -> None:
    """Show `watch` every poll of the bridge by SLAQ's driver loop."""
    bridge = attachment.loop.bridge
    poll = bridge.poll

    def seen(*arguments: Any, **options: Any) -> Any:
        result = poll(*arguments, **options)
        watch.events(msgspec.to_builtins(result.events))
        watch.sample(result.jobs)
        return result

    bridge.poll = seen


def hide_names(attachment: Any) -> None:
    """Declare every job without its estimator, to measure what SLAQ makes of jobs that it has no prior for."""
    agent = attachment.loop.agent
    begin = agent.begin

    def nameless(job_id: str, declaration: Any = None) -> None:
        begin(job_id, declaration and msgspec.structs.replace(declaration, estimator=""))

    agent.begin = nameless

"""Losses of fits on their way to an experiment tracker: in batches, one request a second, from a thread of its own.

Trackers are MLflow's server and TensorBoard's files. Training never waits for one: losses go into a bounded queue, of
which the oldest are dropped and counted.
"""

import json
import re
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Sequence

from msgspec import Struct

from slaq.driver.notices import log, once
from slaq.spark.records import Begin, End, FitEvent, Loss

BATCH = 1000
"""Losses in one request: the most that MLflow takes."""

TAGS = 100
"""Fits whose parameters are told in one request: the most tags that MLflow takes."""

REQUEST_EVERY_S = 1.0
"""Between two requests of one driver, so that no server sees more than one a second of it."""

QUEUE = 100_000
"""Losses that wait; a hundred requests' worth, some 20 MB."""

TRIES = 3
"""Requests that fail in a row before a batch is given up."""

FLUSH_S = 30.0
"""How long a closing driver waits for its queue, one run a second, while the tracker answers."""

SLOW_S = 3.0
"""A closing driver does not wait for a request that has taken so long: a client may retry for minutes."""

RUNS_KEPT = 10_000
"""Runs whose fits are counted."""

LONGEST_NAME = 200
LONGEST_PARAMS = 4000
"""Characters; MLflow refuses names of more than 250 and, in earlier versions, tags of more than 5000."""

_STRANGE = re.compile(r"[^\w.\- ]", re.ASCII)


class Measured(Struct, frozen=True):
    """One loss of one fit, for the run that it belongs to."""

    run: str
    curve: str
    """What tells the fit apart from others in the run: `LogisticRegression`, `LogisticRegression-2`."""
    value: float
    at_ms: int
    step: int
    params: str = ""
    """With the first loss of a fit: its parameters, as JSON."""


Send = Callable[[str, Sequence[Measured]], None]
"""Log these to the run; raises if that failed."""

Place = Callable[[Begin], tuple[str, str] | None]
"""The run that a fit belongs to and what to call its curve there; None: its losses are not wanted."""


class CurveNames:
    """Names the fits of each run by estimator, and numbers those after the first.

    Names come again in other runs, so that a tracker can lay their curves over each other.
    """

    def __init__(self) -> None:
        self._counts: OrderedDict[str, Counter[str]] = OrderedDict()

    def name(self, run: str, wanted: str) -> str:
        """The name of the next curve that wants this one in the run."""
        counts = self._counts.setdefault(run, Counter())
        self._counts.move_to_end(run)
        if len(self._counts) > RUNS_KEPT:
            self._counts.popitem(last=False)
        # No dots first: it may name a folder.
        plain = _STRANGE.sub("_", wanted)[:LONGEST_NAME].lstrip(". ") or "fit"
        counts[plain] += 1
        if counts[plain] == 1:
            return plain
        while (name := f"{plain}-{counts[plain]}") in counts:  # another's own name
            counts[plain] += 1
        counts[name] = 1
        return name


class _Fit:
    """A fit inside a run: named with its first loss, so that fits without losses take no number."""

    def __init__(self, begin: Begin, run: str, wanted: str, names: CurveNames) -> None:
        self._begin, self._run, self._wanted, self._names = begin, run, wanted, names
        self._curve = ""

    def measured(self, event: Loss, value: float) -> Measured:
        begin, params = self._begin, ""
        if not self._curve:
            self._curve = self._names.name(self._run, self._wanted)
            params = json.dumps(begin.params)[:LONGEST_PARAMS]
        # Jobs that report their own losses do not say when they began.
        at_ms = begin.begin_ms + event.nanos // 1_000_000 if begin.begin_ms else int(time.time() * 1000)
        return Measured(self._run, self._curve, value, at_ms, event.iteration, params)


class RunLogger:
    """Takes the events of fits from the driver loop; `send` runs in a thread of its own."""

    def __init__(
        self,
        send: Send,
        names: CurveNames,
        place: Place,
        tracker: str = "the tracking server",
        every_s: float = REQUEST_EVERY_S,
        most: int = QUEUE,
    ) -> None:
        self._send, self._names, self._place, self._tracker = send, names, place, tracker
        self._every_s, self._most = every_s, most
        self._fits: dict[str, _Fit] = {}
        self._queue: deque[Measured] = deque()
        self._changed = threading.Condition()
        self._closed = self._failing = False
        self._sending_since_s: float | None = None
        self._thread: threading.Thread | None = None
        self.dropped = 0

    def happened(self, event: FitEvent) -> None:
        """Note an event; cheap, never waits for the tracker, never raises."""
        try:
            if isinstance(event, Begin):
                if (place := self._place(event)) is not None:
                    self._fits[event.job] = _Fit(event, *place, self._names)
            elif isinstance(event, End):
                self._fits.pop(event.job, None)
            elif event.job in self._fits and event.value is not None:
                self._add(self._fits[event.job].measured(event, event.value))
        except Exception as error:
            self._warn("losses could not be prepared for %s (%r); training is not affected", error)

    def close(self) -> None:
        """Send what waits, as long as the tracker answers; the rest is dropped."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        give_up_s = time.monotonic() + FLUSH_S
        while self._thread is not None and self._thread.is_alive():
            if self._failing or self._stuck() or time.monotonic() > give_up_s:
                break
            self._thread.join(0.05)
        with self._changed:
            left = len(self._queue)
            self._queue.clear()
        if left:
            self._drop(left)

    def _stuck(self) -> bool:
        since_s = self._sending_since_s
        return since_s is not None and time.monotonic() - since_s > SLOW_S

    def _add(self, measured: Measured) -> None:
        with self._changed:
            self._queue.append(measured)
            if len(self._queue) > self._most:
                self._queue.popleft()
                self._drop(1)
            self._changed.notify_all()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="slaq-runs", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while (batch := self._next()) is not None:
            for attempt in range(1, TRIES + 1):
                sent = self._sent(batch)
                if not sent and (attempt == TRIES or self._closed):
                    self._drop(len(batch))
                    break
                self._pause()
                if sent:
                    break

    def _sent(self, batch: Sequence[Measured]) -> bool:
        self._sending_since_s = time.monotonic()
        try:
            self._send(batch[0].run, batch)
            self._failing = False
        except Exception as error:
            self._failing = True
            log.debug("losses could not be logged", exc_info=True)
            self._warn("losses do not reach %s (%r); training is not affected", error)
        finally:
            self._sending_since_s = None
        return not self._failing

    def _next(self) -> list[Measured] | None:
        """The oldest losses of the run that has waited longest; None: closed and nothing waits."""
        with self._changed:
            while not self._queue:
                if self._closed:
                    return None
                self._changed.wait()
            run, tags = self._queue[0].run, 0
            batch: list[Measured] = []
            rest: deque[Measured] = deque()
            for each in self._queue:
                tags += bool(each.params) and each.run == run
                (batch if each.run == run and len(batch) < BATCH and tags <= TAGS else rest).append(each)
            self._queue = rest
            return batch

    def _pause(self) -> None:
        """Wait for the time of the next request; a closing driver with nothing left does not wait."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed and not self._queue, self._every_s)

    def _drop(self, count: int) -> None:
        self.dropped += count
        self._warn("losses are dropped before they reach %s, %d so far", self.dropped)

    def _warn(self, message: str, detail: object) -> None:
        once(f"{self._tracker}: {message}", message, self._tracker, detail)

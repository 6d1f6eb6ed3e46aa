"""An application in a process of its own: `python -m slaq.workload.app` takes requests as lines of JSON.

It answers each with a line of JSON. A `Run` answers "ready" first and begins with the next line it gets, so that
several applications begin at once.
"""

import os
import select
import subprocess
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from slaq.errors import SlaqError
from slaq.workload.algorithms import generated
from slaq.workload.event_log import event_log
from slaq.workload.results import StreamRun
from slaq.workload.run import cached_frames, run_stream, warm_up
from slaq.workload.session import session
from slaq.workload.stream import Planned
from slaq.workload.usage import held_core_s, lost_executors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

READY, GO = "ready", "go"


class Open(Struct, frozen=True, tag=True):
    """Start a Spark context with the data of the jobs in memory; an open one is closed first."""

    jobs: tuple[Planned, ...]
    cores: int
    rows: float
    memory: str
    mode: str = "FIFO"
    probe: bool = True
    master: str | None = None
    conf: dict[str, str] = {}
    warm: float = 0.0
    """Train everything once at so many times its length; 0: not at all."""


class Run(Struct, frozen=True, tag=True):
    """Train the jobs."""

    policy: str
    jobs: tuple[Planned, ...]
    queued: bool = False
    attach: dict[str, Any] = {}
    opening: Open | None = None
    """Open this context when the clock has begun and close it afterwards; None: use the open one."""


class Close(Struct, frozen=True, tag=True):
    """Stop the Spark context."""


class AppRun(Struct, frozen=True):
    """The run of the jobs, whose clock began at `began` (seconds since 1970)."""

    began: float
    run: StreamRun
    lost: list[str] = []
    """Why executors were lost, one sentence each."""


class Context:
    """The Spark context of this process, if one is open, and its data."""

    def __init__(self) -> None:
        self._until_closed = ExitStack()
        self.spark: SparkSession | None = None
        self.frames: dict[str, DataFrame] = {}

    def open(self, wanted: Open) -> None:
        """See Open."""
        self.close()
        logged = self._until_closed.enter_context(event_log())
        more = {**logged, **wanted.conf}
        spark = session(wanted.mode, wanted.cores, wanted.memory, wanted.probe, wanted.master, more)
        self.spark = spark
        self._until_closed.callback(spark.stop)
        self.frames = cached_frames(wanted.jobs, lambda name: generated(spark, name, wanted.rows))
        if wanted.warm:
            warm_up(spark, "spark-fifo" if wanted.probe else "bare", wanted.jobs, self.frames, wanted.warm)

    def close(self) -> None:
        """Stop it; its event log goes with it."""
        self.spark, self.frames = None, {}
        self._until_closed.close()

    def run(self, wanted: Run) -> AppRun:
        """See Run."""
        if wanted.opening is not None:
            self.close()
            _gate()
            self.open(wanted.opening)
        assert self.spark is not None, "Run without an open context"
        began = [time.time()]

        def gate() -> None:
            _gate()
            began[0] = time.time()

        run = run_stream(
            self.spark, wanted.policy, wanted.jobs, self.frames, settings=wanted.attach, queued=wanted.queued,
            gate=gate if wanted.opening is None else None,
        )  # fmt: skip
        lost = lost_executors(self.spark)
        if wanted.opening is not None:  # what it took to load the data counts too
            run = msgspec.structs.replace(run, held_core_s=held_core_s(self.spark))
            self.close()
        return AppRun(began[0], run, lost)


def _gate() -> None:
    _say(READY)
    if sys.stdin.readline().strip() != f'"{GO}"':
        raise SystemExit(1)  # the measurement is over


def _say(answer: object) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.buffer.flush()


def main() -> None:
    """Serve requests until the input ends."""
    # What Spark prints must not come between the answers.
    sys.stdout = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    context = Context()
    try:
        for line in iter(sys.stdin.readline, ""):
            match msgspec.json.decode(line, type=Open | Run | Close):
                case Open() as wanted:
                    context.open(wanted)
                    _say(READY)
                case Run() as wanted:
                    _say(context.run(wanted))
                case Close():
                    context.close()
                    _say(READY)
    finally:
        context.close()


class App:
    """An application as its parent sees it; leaving the block ends it."""

    def __init__(self, name: str = "the application") -> None:
        self.name = name
        self.process = subprocess.Popen(
            [sys.executable, "-m", "slaq.workload.app"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __enter__(self) -> "App":
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        try:
            self.process.wait(20.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def send(self, request: Open | Run | Close | str) -> None:
        """Ask for something; the answer is yet to be read."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(msgspec.json.encode(request) + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise self._ended() from None

    def answer(self, patience_s: float) -> bytes:
        """The next line that it says."""
        assert self.process.stdout is not None
        if not select.select([self.process.stdout], [], [], patience_s)[0]:
            raise SlaqError(f"{self.name} said nothing for {patience_s:.0f} s; see above, or give smaller sizes")
        line = self.process.stdout.readline()
        if not line:
            raise self._ended()
        return line

    def wait(self, patience_s: float) -> None:
        """Wait until it is ready."""
        line = self.answer(patience_s)
        if line != msgspec.json.encode(READY) + b"\n":
            raise SlaqError(f"{self.name} said {line[:100]!r} instead of ready")

    def result(self, patience_s: float) -> AppRun:
        """What a run was."""
        return msgspec.json.decode(self.answer(patience_s), type=AppRun)

    def _ended(self) -> SlaqError:
        return SlaqError(f"{self.name} ended with exit code {self.process.wait()}; see above")


if __name__ == "__main__":
    main()

"""Training jobs in a process of their own: `python -m slaq.workload.app` with an Order on its standard input."""

import subprocess
import sys
import time
from typing import Any

import msgspec

from slaq.errors import SlaqError
from slaq.workload.algorithms import generated
from slaq.workload.results import StreamRun
from slaq.workload.run import cached_frames, run_stream, warm_up
from slaq.workload.session import session
from slaq.workload.stream import Planned


class Order(msgspec.Struct, frozen=True):
    """What the application is to do."""

    policy: str
    jobs: tuple[Planned, ...]
    cores: int
    rows: float
    memory: str
    master: str | None = None
    warm: float = 0.0
    """Train everything at so many times its length before the clock begins; 0: not at all."""
    attach: dict[str, Any] = {}


class AppRun(msgspec.Struct, frozen=True):
    """The run of the jobs, whose clock began at `began` (seconds since 1970)."""

    began: float
    run: StreamRun


def start(order: Order) -> subprocess.Popen[bytes]:
    """Begin an application."""
    process = subprocess.Popen(
        [sys.executable, "-m", "slaq.workload.app"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(order))
    process.stdin.close()
    return process


def result(process: subprocess.Popen[bytes]) -> AppRun:
    """Wait for an application to end."""
    assert process.stdout is not None
    printed = process.stdout.read()
    if process.wait() != 0:
        raise SlaqError(f"an application of the measurement ended with exit code {process.returncode}; see above")
    return msgspec.json.decode(printed, type=AppRun)


def main() -> None:
    """Train and print an AppRun."""
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    mode = "FAIR" if order.policy == "bare" else "FIFO"
    spark = session(mode, order.cores, order.memory, probe=order.policy != "bare", master=order.master)
    try:
        frames = cached_frames(order.jobs, lambda name: generated(spark, name, order.rows))
        if order.warm:
            warm_up(spark, order.policy, order.jobs, frames, order.warm)
        began = time.time()
        run = run_stream(spark, order.policy, order.jobs, frames, settings=order.attach)
    finally:
        spark.stop()
    sys.stdout.buffer.write(msgspec.json.encode(AppRun(began, run)))


if __name__ == "__main__":
    main()

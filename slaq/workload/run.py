"""Run a stream inside one driver: a thread per job, under Spark's own FAIR or FIFO pools, or with SLAQ attached."""

import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slaq.errors import SlaqError
from slaq.policy import names
from slaq.workload.event_log import LABEL, recorded_stages
from slaq.workload.results import StreamRun, Trained
from slaq.workload.stream import Planned, poisson
from slaq.workload.train import train
from slaq.workload.usage import difference, held_core_s, jvm_pid, machine_cpu_s, tree_cpu_s
from slaq.workload.watch import Watch, hide_names, poll_probe, watch_attachment

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MODES = {"slaq": "FAIR", "spark-fair": "FAIR", "spark-fifo": "FIFO", "bare": "FAIR"}
"""Spark's own scheduling mode under each policy. `bare` is `spark-fair` without even the probe: only the
end of its jobs is known."""

POLICIES = tuple(MODES)
OWN = "slaq:"
"""Before the name of one of SLAQ's own policies: SLAQ with that policy."""

Live = Callable[[Watch, "dict[str, str]"], None]
"""live(watch, states): called when the stream begins; `states`: "running" or "ended" of every job that arrived."""


def run_stream(
    spark: "SparkSession",
    policy: str,
    jobs: Sequence[Planned],
    frames: "Mapping[str, DataFrame]",
    number: int = 0,
    settings: Mapping[str, Any] | None = None,
    live: Live | None = None,
    named: bool = True,
    queued: bool = False,
    gate: Callable[[], None] | None = None,
) -> StreamRun:
    """Run all jobs to their end and return what happened. `settings` go to `slaq.attach`.

    Unless `named`, SLAQ's scheduler is not told the estimators. `queued`: every job begins when the one before it has
    ended, and its time counts from then. The clock begins with the call, or when `gate` returns, which is called when
    all is ready.

    Under `spark-fair` every job has a pool of its own, as Spark's documentation suggests; under `spark-fifo` none has.
    Neither runs any code of SLAQ but the probe, which reads the losses and decides nothing.
    """
    known_policy(policy)
    cores = spark.sparkContext.defaultParallelism
    before = Before.of(spark)
    watch = Watch(before.began)
    states: dict[str, str] = {}
    if live is not None:
        live(watch, states)
    with observed(spark, policy, watch, settings or {}, named):
        if gate is not None:
            gate()
            before = Before.of(spark)
            watch.begin(before.began)
        ended = _run_threads(spark, policy, jobs, frames, watch, states, before.began, queued)
        makespan_s = time.time() - before.began
        own_cpu_s = time.process_time() - before.own_cpu_s
    cpu_after, machine_after = tree_cpu_s(jvm_pid(spark)), machine_cpu_s()
    return StreamRun(
        policy=policy,
        round=number,
        cores=cores,
        jobs=tuple(trained(job, watch, *ended[job.name]) for job in jobs),
        makespan_s=makespan_s,
        held_core_s=held_core_s(spark) - before.held_core_s,
        cpu_s=difference(before.cpu_s, cpu_after),
        driver_cpu_s=own_cpu_s,
        machine_cpu_s=difference(before.machine_cpu_s, machine_after),
        samples=watch.samples(),
        stages=recorded_stages(spark, before.began),
    )


@dataclass(frozen=True, slots=True)
class Before:
    """When a stream began, and what everybody had used until then."""

    began: float
    own_cpu_s: float
    cpu_s: float | None
    held_core_s: float
    machine_cpu_s: float | None

    @classmethod
    def of(cls, spark: "SparkSession") -> "Before":
        """Now."""
        own_cpu_s, cpu_s = time.process_time(), tree_cpu_s(jvm_pid(spark))
        held, machine = held_core_s(spark), machine_cpu_s()
        return cls(time.time(), own_cpu_s, cpu_s, held, machine)


@contextmanager
def observed(
    spark: "SparkSession", policy: str, watch: Watch, settings: Mapping[str, Any], named: bool = True
) -> Iterator[None]:
    """Collect losses into `watch`: through SLAQ's own loop if the policy is SLAQ, by draining the probe otherwise."""
    if policy.startswith("slaq"):
        import slaq

        own = {"policy": policy.removeprefix(OWN)} if policy.startswith(OWN) else {}
        # A measurement neither reads nor changes what the user's own fits have taught.
        with slaq.attach(spark, **{"progress": False, "archive": "off", **settings, **own}) as attachment:
            watch_attachment(attachment, watch)
            if not named:
                hide_names(attachment)
            yield
        return
    if policy == "bare":
        yield
        return
    stop = threading.Event()
    poller = threading.Thread(target=poll_probe, args=(spark, watch, stop), name="losses", daemon=True)
    poller.start()
    try:
        yield
    finally:
        stop.set()
        poller.join()


def known_policy(policy: str) -> str:
    """The policy itself if there is one of that name."""
    if policy not in POLICIES and policy.removeprefix(OWN) not in names():
        own = ", ".join(OWN + name for name in names())
        raise SlaqError(f"unknown policy {policy!r}; choose from {', '.join(POLICIES)}, {own}")
    return policy


def mode(policy: str) -> str:
    """Spark's own scheduling mode under a policy."""
    return MODES.get(policy, "FAIR")


def pool_name(job: Planned) -> str:
    """A pool name that does not sort by arrival.

    Spark's FAIR orders pools with equally many running tasks by name. With more jobs than cores that is most of the
    time, and numbered pools would make it FIFO.
    """
    return hashlib.sha256(f"{job.seed} {job.name}".encode()).hexdigest()[:12]


def trained(
    job: Planned, watch: Watch, arrived_s: float, ended_s: float, model: tuple[float, ...], error: str | None
) -> Trained:
    """The record of one job."""
    curve = watch.curve(job.name)
    times_s, losses = tuple(at_s for at_s, _ in curve), tuple(loss for _, loss in curve)
    return Trained(
        job.name, job.algorithm, arrived_s, ended_s, times_s, losses, model, error, pool_name(job), job.iterations
    )


Course = tuple[float, float, tuple[float, ...], str | None]
"""When a job arrived and ended, its model, and why it failed if it did."""


def _run_threads(
    spark: "SparkSession",
    policy: str,
    jobs: Sequence[Planned],
    frames: "Mapping[str, DataFrame]",
    watch: Watch,
    states: dict[str, str],
    began: float,
    queued: bool,
) -> dict[str, Course]:
    """Start every job when it is due; returns when the last has ended."""
    from pyspark import InheritableThread

    ended: dict[str, Course] = {}

    def work(job: Planned, arrived_s: float) -> None:
        model: tuple[float, ...] = ()
        error = None
        try:
            spark.sparkContext.setLocalProperty(LABEL, job.name)
            if policy in ("spark-fair", "bare"):
                spark.sparkContext.setLocalProperty("spark.scheduler.pool", pool_name(job))
            model = train(job, frames[job.algorithm], watch.expect, watch.report)
        except Exception as failure:
            error = f"{type(failure).__name__}: {failure}"[:500]
        ended[job.name] = (arrived_s, time.time() - began, model, error)
        states[job.name] = "ended"

    threads: list[Any] = []
    for job in jobs:
        if queued and threads:
            threads[-1].join()
        time.sleep(max(began + job.arrival_s - time.time(), 0.0))
        arrived_s = time.time() - began if queued else job.arrival_s
        states[job.name] = "running"
        threads.append(InheritableThread(target=work, args=(job, arrived_s), name=job.name, daemon=True))
        threads[-1].start()
    for thread in threads:
        thread.join()
    return ended


def warm_up(
    spark: "SparkSession", policy: str, stream: Sequence[Planned], frames: "Mapping[str, DataFrame]", length: float
) -> None:
    """A run of every algorithm at once, so that no policy is measured on code that is not compiled yet."""
    names = list(dict.fromkeys(job.algorithm for job in stream))
    run_stream(spark, policy, poisson(len(names), 0.0, 0, length, names), frames)


def cached_frames(jobs: Sequence[Planned], load: "Callable[[str], DataFrame]") -> "dict[str, DataFrame]":
    """The data of every algorithm in the stream, in memory before the first job arrives, as in the paper (§6.1)."""
    frames = {name: load(name).cache() for name in dict.fromkeys(job.algorithm for job in jobs)}
    for frame in frames.values():
        frame.count()
    return frames

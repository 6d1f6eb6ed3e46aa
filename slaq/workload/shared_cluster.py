"""Long-lived applications on one standalone cluster, each with a queue of fits: under SLAQ, and in Spark's own ways.

| way | what it is |
| --- | --- |
| `slaq` | every application has executors on all cores; SLAQ's scheduler grants their jobs cores |
| `spark-shared` | the same executors; the workers declare more cores than exist, the operating system divides them |
| `spark-fifo` | `spark.cores.max` is all cores: an application has them until its queue is empty, the next one waits |
| `spark-dynamic` | dynamic allocation: an application asks for executors of one core and gives idle ones back |

The driver of an application lives through the whole measurement. Under the first two ways its executors do, too, and
code and data are warm. Under the others executors are new in every run, for that is what these ways are.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from slaq.errors import SlaqError
from slaq.workload.app import GO, App, AppRun, Close, Open, Run
from slaq.workload.results import Sample, Stage, StreamRun, Trained
from slaq.workload.stream import Planned, in_turn
from slaq.workload.usage import difference, machine_cpu_s, tree_cpu_s

WAYS = ("slaq", "spark-shared", "spark-fifo", "spark-dynamic")
STAYING = WAYS[:2]
"""Ways in which executors stay."""

DYNAMIC = {
    "spark.executor.cores": "1",
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.executorIdleTimeout": "5s",
    # Otherwise an executor that holds cached data is never given back.
    "spark.dynamicAllocation.cachedExecutorIdleTimeout": "5s",
    "spark.dynamicAllocation.shuffleTracking.timeout": "5s",
}
PATIENCE_S = 1800.0
SMALLEST_MB, LARGEST_MB = 512, 4096

Queues = Sequence[Sequence[Planned]]
"""The fits of each application."""


class Setting(Struct, frozen=True):
    """What stays the same in every way."""

    cores: int
    rows: float
    memory: str
    """Of each driver and each executor."""
    epoch_s: float
    warm: float


def memory_for(applications: int) -> str:
    """Memory of a JVM so that the drivers and executors of all applications take half of this machine's."""
    machine_mb = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
    return f"{min(max(machine_mb // (4 * applications), SMALLEST_MB), LARGEST_MB)}m"


def run_ways(
    setting: Setting, ways: Sequence[str], rounds: Sequence[Queues], tell: Callable[[str], None]
) -> Iterator[StreamRun]:
    """Every round in every way: first those in which executors stay, by turns, then the others, by turns.

    Code that the JVMs compile favours later runs.
    """
    with ExitStack() as running:
        apps = [running.enter_context(App(f"application {number + 1}")) for number in range(len(rounds[0]))]
        if staying := [way for way in ways if way in STAYING]:
            yield from _staying(setting, apps, staying, rounds, tell)
        if leaving := [way for way in ways if way not in STAYING]:
            yield from _leaving(setting, apps, leaving, rounds, tell)


def _staying(
    setting: Setting, apps: Sequence[App], ways: Sequence[str], rounds: Sequence[Queues], tell: Callable[[str], None]
) -> Iterator[StreamRun]:
    with cluster(setting.cores, len(apps), setting.memory, setting.epoch_s) as there:
        tell(f"starting {len(apps)} applications and warming them up")
        for number, app in enumerate(apps):
            jobs = tuple(job for queues in rounds for job in queues[number])
            app.send(_opening(setting, jobs, there, setting.warm))
        for app in apps:
            app.wait(PATIENCE_S)
        for number, queues, way in in_turn(rounds, ways):
            tell(f"round {number + 1}: {way}")
            attach = {"endpoint": there["endpoint"]} if way == "slaq" else {}
            policy = "slaq" if way == "slaq" else "spark-fifo"  # within an application there is one fit at a time
            requests = [Run(policy, tuple(queue), queued=True, attach=attach) for queue in queues]
            yield _run(way, number, setting, apps, requests, there)
        for app in apps:
            app.send(Close())
        for app in apps:
            app.wait(PATIENCE_S)


def _leaving(
    setting: Setting, apps: Sequence[App], ways: Sequence[str], rounds: Sequence[Queues], tell: Callable[[str], None]
) -> Iterator[StreamRun]:
    # Room for an executor of each core: dynamic allocation has as many.
    total = f"{int(setting.memory[:-1]) * setting.cores}{setting.memory[-1]}"
    with cluster(setting.cores, 1, total, setting.epoch_s) as there:
        for number, queues, way in in_turn(rounds, ways):
            tell(f"round {number + 1}: {way}")
            conf = DYNAMIC if way == "spark-dynamic" else {}
            requests = [
                Run("spark-fifo", tuple(queue), queued=True, opening=_opening(setting, tuple(queue), there, 0.0, conf))
                for queue in queues
            ]
            yield _run(way, number, setting, apps, requests, there)


def _opening(
    setting: Setting, jobs: tuple[Planned, ...], there: Mapping[str, Any], warm: float, conf: Mapping[str, str] = {}
) -> Open:
    return Open(
        jobs, setting.cores, setting.rows, setting.memory, master=there["master"], conf=dict(conf), warm=warm
    )  # fmt: skip


def _run(
    way: str, number: int, setting: Setting, apps: Sequence[App], requests: Sequence[Run], there: Mapping[str, Any]
) -> StreamRun:
    for app, request in zip(apps, requests, strict=True):
        app.send(request)
    for app in apps:
        app.wait(PATIENCE_S)
    everybody = [app.process.pid for app in apps] + [part["pid"] for part in there["processes"]]
    cpu_before, machine_before = _cpu_s(everybody), machine_cpu_s()
    for app in apps:
        app.send(GO)
    runs = [app.result(PATIENCE_S) for app in apps]
    cpu_s = difference(cpu_before, _cpu_s(everybody))
    return together(way, number, setting.cores, runs, cpu_s, difference(machine_before, machine_cpu_s()))


def _cpu_s(pids: Sequence[int]) -> float | None:
    used = [tree_cpu_s(pid) for pid in pids]
    return None if None in used else sum(filter(None, used))


def together(
    way: str, number: int, cores: int, apps: Sequence[AppRun], cpu_s: float | None, machine_s: float | None
) -> StreamRun:
    """The applications' runs as one, on one clock, which begins with all of them.

    The first fit of each queue is due at once. An application that lost an executor was not measured.
    """
    began = min(app.began for app in apps)
    trained: list[Trained] = []
    samples: list[Sample] = []
    stages: list[Stage] = []
    for place, app in enumerate(apps, 1):
        by = app.began - began
        error = f"application {place} lost an executor: {app.lost[0]}{OUT_OF_MEMORY}" if app.lost else None
        for at, job in enumerate(app.run.jobs):
            trained.append(
                replace(
                    job, arrived_s=job.arrived_s + by if at else 0.0, ended_s=job.ended_s + by,
                    times_s=tuple(at_s + by for at_s in job.times_s), error=error or job.error,
                )
            )  # fmt: skip
        samples += [replace(sample, at_s=sample.at_s + by) for sample in app.run.samples]
        stages += [
            Stage(
                stage.job, stage.submitted_s + by, tuple(at + by for at in stage.launched_s),
                tuple(at + by for at in stage.finished_s),
            )
            for stage in app.run.stages
        ]  # fmt: skip
    own_s = sum(app.run.driver_cpu_s for app in apps)
    return StreamRun(
        policy=way,
        round=number,
        cores=cores,
        jobs=tuple(trained),
        makespan_s=max(job.ended_s for job in trained),
        held_core_s=sum(app.run.held_core_s for app in apps),
        cpu_s=None if cpu_s is None else cpu_s - own_s,
        driver_cpu_s=own_s,
        machine_cpu_s=machine_s,
        samples=tuple(samples),
        stages=tuple(sorted(stages, key=lambda stage: stage.submitted_s)),
    )


OUT_OF_MEMORY = " (exit code 52 is a lack of memory: give a larger --memory or smaller --rows)"


@contextmanager
def cluster(cores: int, applications: int, memory: str, epoch_s: float) -> Iterator[dict[str, Any]]:
    """A standalone cluster on this host and SLAQ's scheduler; both are removed afterwards."""
    slaq = [sys.executable, "-m", "slaq.cli", "cluster"]
    with tempfile.TemporaryDirectory(prefix="slaq-bench-") as folder:
        shape = [f"--cores={cores}", f"--applications={applications}", f"--memory={memory}", f"--epoch={epoch_s}"]
        up = subprocess.run([*slaq, "up", "--dir", folder, *shape, "--format", "json"], capture_output=True, text=True)
        try:
            if up.returncode != 0:
                raise SlaqError(f"the cluster for the measurement did not start: {up.stderr.strip()}")
            yield json.loads(up.stdout)
        finally:
            subprocess.run([*slaq, "down", "--dir", folder], capture_output=True)

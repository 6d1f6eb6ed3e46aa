"""Run a stream as applications on a standalone cluster: with SLAQ's scheduler, or as Spark shares a cluster by itself.

Spark's own standalone cluster knows FIFO: an application takes the cores it asks for, the next waits. Sharing it fairly
means declaring more cores than exist and leaving the rest to the operating system; that is `spark-fair` here.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec

from slaq.errors import SlaqError
from slaq.workload.app import AppRun, Order, result, start
from slaq.workload.results import Sample, StreamRun, Trained
from slaq.workload.run import OWN
from slaq.workload.stream import Planned

MEMORY = "800m"
"""Of each driver and each executor."""


def run_apps(
    policy: str, jobs: Sequence[Planned], cores: int, rows: float, number: int, epoch_s: float | None
) -> StreamRun:
    """Start an application for every job when it is due and return what happened when the last has ended.

    A job's time includes what its application costs: a JVM, an executor, its data.
    """
    at_once = 1 if policy == "spark-fifo" else len(jobs)
    scheduling = [f"--policy={policy.removeprefix(OWN)}"] if policy.startswith(OWN) else []
    scheduling += [f"--epoch={epoch_s}"] if epoch_s else []
    with cluster(cores, at_once, scheduling) as there:
        attach = {"endpoint": there["endpoint"]} if policy.startswith("slaq") else {}
        began = time.time()
        running = []
        try:
            for job in jobs:
                time.sleep(max(began + job.arrival_s - time.time(), 0.0))
                alone = msgspec.structs.replace(job, arrival_s=0.0)
                # Within one application there is nothing to share: FIFO and FAIR are the cluster's business.
                within = "slaq" if attach else "spark-fifo"
                running.append(start(Order(within, (alone,), cores, rows, MEMORY, there["master"], attach=attach)))
            runs = [result(process) for process in running]
        finally:
            for process in running:
                process.kill()
                process.wait()
    return _together(policy, number, cores, jobs, runs, began)


@contextmanager
def cluster(cores: int, applications: int, scheduling: Sequence[str]) -> Iterator[dict[str, str]]:
    """A standalone cluster on this host and SLAQ's scheduler; both are removed afterwards."""
    slaq = [sys.executable, "-m", "slaq.cli", "cluster"]
    with tempfile.TemporaryDirectory(prefix="slaq-bench-") as folder:
        shape = ["--cores", str(cores), "--applications", str(applications), "--memory", MEMORY]
        up = subprocess.run(
            [*slaq, "up", "--dir", folder, *shape, *scheduling, "--format", "json"], capture_output=True, text=True
        )
        try:
            if up.returncode != 0:
                raise SlaqError(f"the cluster for the measurement did not start: {up.stderr.strip()}")
            yield json.loads(up.stdout)
        finally:
            subprocess.run([*slaq, "down", "--dir", folder], capture_output=True)


def _together(
    policy: str, number: int, cores: int, jobs: Sequence[Planned], runs: Sequence[AppRun], began: float
) -> StreamRun:
    """The applications' runs on the stream's clock."""
    trained: list[Trained] = []
    samples: list[Sample] = []
    for job, one_app in zip(jobs, runs, strict=True):
        shift = one_app.began - began
        (one,) = one_app.run.jobs
        times_s = tuple(at_s + shift for at_s in one.times_s)
        trained.append(
            msgspec.structs.replace(one, arrived_s=job.arrival_s, ended_s=one.ended_s + shift, times_s=times_s)
        )
        samples += [msgspec.structs.replace(sample, at_s=sample.at_s + shift) for sample in one_app.run.samples]
    return StreamRun(
        policy=policy,
        round=number,
        cores=cores,
        jobs=tuple(trained),
        makespan_s=max(one.ended_s for one in trained),
        held_core_s=sum(one_app.run.held_core_s for one_app in runs),
        cpu_s=None,
        driver_cpu_s=sum(one_app.run.driver_cpu_s for one_app in runs),
        samples=tuple(samples),
    )

"""What happens on clusters to a job that is held to a share: it ends with the right result, and nothing is left behind.

A standalone cluster of two hosts: Spark runs no second copy of a task on the host of the first.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark import BarrierTaskContext, InheritableThread, TaskContext, cloudpickle
from pyspark.resource import ResourceProfileBuilder, TaskResourceRequests
from pyspark.sql import SparkSession

from slaq.bench._tasks import keep_busy, sleep_tasks, wait_until
from slaq.spark.bridge import Bridge
from slaq.spark.jar import launch_conf
from tests import short_lived
from tests.spark.conftest import QUIET

pytestmark = [pytest.mark.spark, pytest.mark.slow]

CONF = {
    "spark.driver.host": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "2",
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.5",
    "spark.decommission.enabled": "true",
    "spark.excludeOnFailure.enabled": "true",
    # What one test excludes, the next one needs.
    "spark.excludeOnFailure.application.maxFailedTasksPerExecutor": "100",
    "spark.barrier.sync.timeout": "60",
}

# Executors do not have this file: they get its functions by value.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

Partition = Callable[[int, Iterator[int]], Iterator[int]]


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A master and two workers of two cores, each on a loopback address of its own."""
    folder = tmp_path_factory.mktemp("cluster")
    spark_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
    environment = {**os.environ, **short_lived.JVM, "SPARK_WORKER_DIR": str(folder)}

    def start(name: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [str(spark_class), f"org.apache.spark.deploy.{name}", "--webui-port", "0", *arguments]
        with (folder / "log").open("ab") as log:
            return subprocess.Popen(command, env=environment, stdout=log, stderr=log)

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"spark://127.0.0.1:{port}"
    daemons = [start("master.Master", "--host", "127.0.0.1", "--port", str(port))]
    for host in ("127.0.0.2", "127.0.0.3"):
        daemons.append(start("worker.Worker", "--host", host, "--cores", "2", "--memory", "1g", url))
    try:
        yield url
    finally:
        for daemon in daemons:
            daemon.kill()
            daemon.wait()


@pytest.fixture(scope="module")
def spark(master: str) -> Iterator[SparkSession]:
    builder = SparkSession.builder.master(master).appName("slaq-tests")
    for key, value in {**QUIET, **launch_conf(strict=True), **CONF}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture
def held(spark: SparkSession) -> Iterator[Bridge]:
    """The bridge with both executors up, this thread in the pool of a job of 1.5 cores; at the end all is at rest."""
    bridge = Bridge.install(spark, strict=True)
    wait_until(lambda: bridge.poll().counters.slots == 4, 60)
    with bridge.job("train"):
        bridge.grant({"train": 1.5}, lease_s=100)
        yield bridge
    wait_until(lambda: at_rest(bridge), 30)
    assert bridge.poll().counters.faults == {}


def at_rest(bridge: Bridge) -> bool:
    poll = bridge.poll()
    return not any(usage.running for usage in poll.jobs) and poll.counters.stages_tracked == 0


def total(spark: SparkSession, partition: Partition, tasks: int = 8) -> int:
    return int(spark.sparkContext.parallelize(range(tasks), tasks).mapPartitionsWithIndex(partition).sum())


def executor_pid() -> int:
    """The JVM of the executor that this Python task runs for: the parent of the daemon that forked its worker."""
    return int(Path(f"/proc/{os.getppid()}/stat").read_text().split(")")[1].split()[1])


def first(mark: Path) -> bool:
    """True for the first task that asks, whatever its process."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def test_speculation(spark: SparkSession, held: Bridge) -> None:
    def partition(index: int, numbers: Iterator[int]) -> Iterator[int]:
        straggles = index == 0 and TaskContext.get().attemptNumber() == 0
        time.sleep(30 if straggles else 0.1)
        return numbers

    started = time.perf_counter()
    assert total(spark, partition) == 28
    assert time.perf_counter() - started < 25, "a second copy overtook the straggler"
    assert held.poll().job("train").tasks >= 8


def test_a_task_that_fails_on_one_executor_is_run_on_another(spark: SparkSession, held: Bridge, tmp_path: Path) -> None:
    mark = tmp_path / "pid"

    def partition(_: int, numbers: Iterator[int]) -> Iterator[int]:
        time.sleep(0.05)
        if first(mark):
            mark.write_text(str(executor_pid()))
        if mark.read_text() == str(executor_pid()):
            raise RuntimeError("bad executor")
        return numbers

    assert total(spark, partition) == 28
    assert held.poll().job("train").failed_tasks >= 1


def test_stage_level_resources(spark: SparkSession, held: Bridge) -> None:
    profile = ResourceProfileBuilder().require(TaskResourceRequests().cpus(2)).build
    rdd = spark.sparkContext.parallelize(range(8), 4).withResources(profile)
    assert rdd.map(lambda n: n + 1).sum() == 36
    assert held.poll().job("train").tasks == 4


def test_a_barrier_stage_starts_beside_many_short_tasks_of_throttled_jobs(spark: SparkSession, held: Bridge) -> None:
    def partition(numbers: Iterator[int]) -> Iterator[int]:
        BarrierTaskContext.get().barrier()
        return numbers

    with keep_busy(held, ["a", "b"], lambda: sleep_tasks(spark, 40, 30)):
        held.grant({"a": 1.0, "b": 1.0}, lease_s=100)
        started = time.perf_counter()
        for width in (2, 4):
            rdd = spark.sparkContext.parallelize(range(8), width)
            assert rdd.barrier().mapPartitions(partition).sum() == 28
        assert time.perf_counter() - started < 60, "a starved stage never starts"


def test_an_executor_is_killed_in_the_middle_of_a_stage(spark: SparkSession, held: Bridge, tmp_path: Path) -> None:
    def partition(index: int, numbers: Iterator[int]) -> Iterator[int]:
        time.sleep(0.1)
        if index == 3 and first(tmp_path / "killed"):
            os.kill(executor_pid(), signal.SIGKILL)
            time.sleep(30)
        return numbers

    assert total(spark, partition) == 28
    assert held.poll().job("train").failed_tasks >= 1


def test_a_stage_is_run_again_when_its_output_is_lost(spark: SparkSession, held: Bridge, tmp_path: Path) -> None:
    def reduced(index: int, pairs: Iterator[Any]) -> Iterator[Any]:
        if index == 0 and first(tmp_path / "killed"):
            os.kill(executor_pid(), signal.SIGKILL)
            time.sleep(30)
        return pairs

    numbers = spark.sparkContext.parallelize(range(100), 6).map(lambda n: (n % 10, n))
    sums = numbers.reduceByKey(lambda a, b: a + b, 6).mapPartitionsWithIndex(reduced).collectAsMap()
    assert sums == {digit: 450 + 10 * digit for digit in range(10)}
    assert held.poll().job("train").stages >= 3, "the lost outputs were made again"


def test_an_executor_is_decommissioned_in_the_middle_of_a_stage(spark: SparkSession, held: Bridge) -> None:
    jvm: Any = spark._jvm
    backend: Any = spark.sparkContext._jsc.sc().schedulerBackend()
    nowhere = jvm.scala.Option.apply(None)
    info = jvm.org.apache.spark.scheduler.ExecutorDecommissionInfo("a test", nowhere)

    def executors() -> set[str]:
        return set(backend.getExecutorIds().mkString(" ").split())

    def partition(_: int, numbers: Iterator[int]) -> Iterator[int]:
        time.sleep(0.3)
        return numbers

    sums: list[int] = []
    job = InheritableThread(target=lambda: sums.append(total(spark, partition)))
    job.start()
    wait_until(lambda: held.poll().job("train").tasks >= 1, 30)
    leaving = min(executors())
    assert backend.decommissionExecutor(leaving, info, False, False)
    job.join()
    assert sums == [28]
    wait_until(lambda: leaving not in executors(), 30)

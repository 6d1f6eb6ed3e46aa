"""What a run cost: CPU time of a process and all its children, and the core-seconds that Spark's tasks held."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARENT, USED = 1, slice(11, 15)
"""Fields of /proc/<pid>/stat after the name: the parent's id; CPU ticks, also those of ended children."""

MACHINE = Path("/proc/stat")

GIVEN_BACK = "killed by driver"
"""In Spark's reason for the end of an executor that dynamic allocation gave back."""


def tree_cpu_s(pid: int) -> float | None:
    """CPU seconds of a process and its descendants so far; None where there is no /proc to read them from."""
    stats: dict[int, list[str]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stats[int(folder.name)] = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # ended since it was listed; its parent has its ticks by now
            continue
    if pid not in stats:
        return None
    family = {pid}
    while found := {child for child, stat in stats.items() if int(stat[PARENT]) in family} - family:
        family |= found
    return sum(int(ticks) for member in family for ticks in stats[member][USED]) / os.sysconf("SC_CLK_TCK")


def machine_cpu_s() -> float | None:
    """CPU seconds that everybody on this machine used so far, other tenants of its host (steal) included."""
    try:
        user, nice, system, _idle, _waiting, *interrupts_and_steal = MACHINE.read_text().split("\n", 1)[0].split()[1:9]
    except OSError:
        return None
    return sum(map(int, (user, nice, system, *interrupts_and_steal))) / os.sysconf("SC_CLK_TCK")


def difference(before: float | None, after: float | None) -> float | None:
    """What was used in between, if it is known."""
    return None if before is None or after is None else after - before


def held_core_s(spark: "SparkSession") -> float:
    """Core-seconds that finished tasks of this session held."""
    return sum(float(info.totalDuration()) for info in _executors(spark)) / 1e3


def lost_executors(spark: "SparkSession") -> list[str]:
    """Executors that this session lost, each with Spark's reason; one that was idle and given back is not lost."""
    reasons = (info.removeReason() for info in _executors(spark) if not info.isActive())
    return [str(reason.get()) for reason in reasons if reason.isDefined() and GIVEN_BACK not in str(reason.get())]


def _executors(spark: "SparkSession") -> Iterator[Any]:
    # Not the summaries that the store hands out: there a local driver's task time is its time since the start.
    store = spark.sparkContext._jsc.sc().statusStore().store()
    jvm: Any = spark._jvm
    executors = store.view(jvm.java.lang.Class.forName("org.apache.spark.status.ExecutorSummaryWrapper")).iterator()
    while executors.hasNext():
        yield executors.next().info()


def jvm_pid(spark: "SparkSession") -> int:
    """The process of the driver's JVM."""
    jvm: Any = spark._jvm
    return int(jvm.java.lang.ProcessHandle.current().pid())

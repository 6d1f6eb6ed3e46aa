"""What `slaq doctor` runs: a small driver with SLAQ in it that tries every part and prints what it found, as JSON."""

import sys
import time
from collections.abc import Callable
from typing import Any

import msgspec
import pyspark
from pyspark.ml.classification import LogisticRegression
from pyspark.ml.linalg import Vectors
from pyspark.sql import SparkSession

from slaq.errors import SlaqError
from slaq.spark.attach import attach_agent
from slaq.spark.bridge import Bridge
from slaq.spark.jar import launch_conf
from slaq.spark.records import Poll

PATIENCE_S = 20.0
HELD_BACK = "held back"


def main() -> None:
    """Print one line: a list of findings (`what`, `holds`, `essential`, `says`)."""
    findings: list[dict[str, Any]] = []

    def tell(what: str, holds: bool, says: str = "", essential: bool = True) -> None:
        findings.append({"what": what, "holds": holds, "essential": essential, "says": says})

    spark = _start()
    tell("Spark starts", True, f"pyspark {pyspark.__version__}, Java {_java(spark)}")
    try:
        _examine(spark, tell)
    except Exception as error:  # whatever it is, it is a finding
        tell("the examination ends", False, f"{type(error).__name__}: {str(error).splitlines()[0]}")
    print(msgspec.json.encode(findings).decode())
    sys.stdout.flush()
    spark.stop()


def _start() -> SparkSession:
    builder = SparkSession.builder.master("local[2]").appName("slaq doctor")
    conf = {**launch_conf(), "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    # Its own scheduler in the sidecar: a central one need not hear of this.
    conf |= {"spark.slaq.python": sys.executable, "spark.slaq.endpoint": "", "spark.log.level": "ERROR"}
    for key, value in conf.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _examine(spark: SparkSession, tell: Callable[..., None]) -> None:
    jvm: Any = spark._jvm
    agent = bool(jvm.io.slaq.probe.Agent.ready())
    tell("agent loads with the driver", agent, f"hooks in place after {jvm.io.slaq.probe.Agent.seconds():.2f} s")
    missing = list(jvm.io.slaq.bridge.Needs.missing())
    tell("Spark has all that the bridge calls", not missing, "; ".join(missing))
    tell("pools are installed", jvm.io.slaq.bridge.Bridge.current() is not None)
    tell("sidecar answers", _sidecar(jvm.io.slaq.sidecar.Sidecar))
    bridge = Bridge.install(spark)
    with bridge.job("examined"):
        count = spark.range(0, 1000, 1, 8).selectExpr("sum(id) total").first()
    tell("jobs give right results", count is not None and count.total == 499_500)
    poll = bridge.poll()
    tell("gate asks for every task", poll.counters.gate)
    tell("shares hold", *_held_back(spark, bridge))
    tell("losses are read", *_losses(spark, bridge))
    _hooks(bridge.poll(), tell)
    try:
        attach_agent(spark)
        tell("agent can be attached to a running driver", True, essential=False)
    except SlaqError as error:
        tell("agent can be attached to a running driver", False, str(error), essential=False)
    faults = bridge.poll().counters.faults
    tell("nothing failed inside SLAQ", not faults, ", ".join(f"{place}: {n}" for place, n in faults.items()))


def _sidecar(sidecar: Any) -> bool:
    """Whether the Python agent beside the driver has connected and left its board; it would make grants of its own."""
    desk = sidecar.desk()
    answers = desk is not None and _soon(lambda: bool(desk.post(0, "")))
    sidecar.stop()
    return answers


def _held_back(spark: SparkSession, bridge: Bridge) -> tuple[bool, str]:
    """A job of half a core with tasks of 100 ms may hold about half a slot of two."""
    bridge.set_strict(True)
    bridge.open_pool(HELD_BACK)
    bridge.grant({HELD_BACK: 0.5}, lease_s=30)
    started = time.perf_counter()
    with bridge.job(HELD_BACK):
        naps = spark.range(0, 20, 1, 20).selectExpr("java_method('java.lang.Thread', 'sleep', 100L)")
        naps.write.format("noop").mode("overwrite").save()
    seconds = time.perf_counter() - started
    bridge.set_strict(False)
    bridge.close_pool(HELD_BACK)
    return seconds > 2.0, f"2 core-seconds at 0.5 cores took {seconds:.1f} s"


def _losses(spark: SparkSession, bridge: Bridge) -> tuple[bool, str]:
    rows = [(float(n % 2), Vectors.dense([float(n % 7), float(n % 3)])) for n in range(40)]
    before = bridge.poll().complete
    LogisticRegression(maxIter=3).fit(spark.createDataFrame(rows, ["label", "features"]))
    losses = [event for event in bridge.poll(before).events if type(event).__name__ == "Loss"]
    return bool(losses), f"{len(losses)} of a logistic regression"


def _hooks(poll: Poll, tell: Callable[..., None]) -> None:
    probe = poll.probe
    tell("hooks hold", "ml fit" in probe.applied, f"{len(probe.applied)} of {len(probe.applied) + len(probe.missed)}")
    for hook in sorted(probe.missed):
        tell(f"hook {hook}", False, probe.reasons.get(hook, ""), essential=hook == "gate")


def _java(spark: SparkSession) -> str:
    jvm: Any = spark._jvm
    return str(jvm.java.lang.System.getProperty("java.version"))


def _soon(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


if __name__ == "__main__":
    main()

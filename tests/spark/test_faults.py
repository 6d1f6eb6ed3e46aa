"""Whatever dies beside the bridge, Spark's work goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from py4j.java_gateway import GatewayParameters, JavaGateway, java_import

from slaq.bench._tasks import wait_until
from slaq.spark.jar import launch_conf

pytestmark = pytest.mark.spark


DRIVER = """
import time
from pyspark.sql import SparkSession
from slaq.bench._tasks import keep_busy, sleep_tasks
from slaq.spark.bridge import Bridge
import threading

spark = SparkSession.builder.getOrCreate()
bridge = Bridge.install(spark, strict=True)
sleep_tasks(spark, 2, 1)

def job():
    with bridge.job("orphan"):
        sleep_tasks(spark, 60, 50)  # 1.5 s on two slots, minutes at 0.02 cores

bridge.open_pool("orphan")
bridge.grant({"orphan": 0.02}, lease_s=2.0)
threading.Thread(target=job).start()
while True:
    bridge.grant({"orphan": 0.02}, lease_s=2.0)
    time.sleep(0.2)
"""


@pytest.fixture
def lone_jvm(tmp_path: Path) -> Iterator[tuple[int, str]]:
    """A driver JVM that outlives the Python processes that use it: port and secret of its gateway."""
    import pyspark

    info = tmp_path / "gateway"
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    conf = {**launch_conf(strict=True), "spark.master": "local[2]", "spark.ui.enabled": "false"}
    conf["spark.slaq.enabled"] = "false"
    flags = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    environment = {**os.environ, "_PYSPARK_DRIVER_CONN_INFO_PATH": str(info)}
    command = [str(submit), *flags, "pyspark-shell"]
    jvm = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        wait_until(info.exists, 120)
        data = info.read_bytes()
        port = int.from_bytes(data[:4], "big")
        length = int.from_bytes(data[4:8], "big")
        yield port, data[8 : 8 + length].decode()
    finally:
        jvm.stdin.close()  # type: ignore[union-attr]
        jvm.wait(60)


@pytest.mark.slow
def test_killing_python_frees_its_throttled_job_after_the_lease(lone_jvm: tuple[int, str], tmp_path: Path) -> None:
    port, secret = lone_jvm
    program = tmp_path / "driver.py"
    program.write_text(DRIVER)
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
        "PYSPARK_GATEWAY_PORT": str(port),
        "PYSPARK_GATEWAY_SECRET": secret,
    }
    driver = subprocess.Popen([sys.executable, str(program)], env=environment)
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=secret, auto_convert=True))
    java_import(gateway.jvm, "io.slaq.bridge.Bridge")

    def orphan() -> dict[str, Any]:
        java_bridge = gateway.jvm.Bridge.current()
        jobs = json.loads(java_bridge.poll(0, 0))["jobs"] if java_bridge is not None else []
        return next((job for job in jobs if job["job"] == "orphan"), {})

    try:
        wait_until(lambda: orphan().get("tasks", 0) > 0, 120)
        time.sleep(1.0)
        held_back = orphan()
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        assert held_back["cores"] == 0.02
        assert held_back["tasks"] < 20
        took = wait_until(lambda: orphan().get("tasks", 0) == 60, 90)
        assert 1.0 < took < 60.0, "minutes, had the grant stayed"
        assert orphan()["cores"] is None
    finally:
        driver.kill()
        gateway.close()

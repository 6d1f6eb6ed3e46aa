"""A real Spark Connect server with SLAQ in it, and unmodified clients of two users."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pyspark
import pytest

from slaq.spark.jar import launch_conf
from tests.driver.obedient import ConstantScheduler

pytest.importorskip("grpc", reason="Spark Connect needs pyspark[connect]")
pytestmark = [pytest.mark.spark, pytest.mark.slow]

HOME = Path(pyspark.__file__).parent
CLIENT = Path(__file__).with_name("connect_client.py")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    ends = time.monotonic() + 90.0
    while time.monotonic() < ends and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
            return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError("the Connect server does not listen")


@pytest.mark.skipif(int(pyspark.__version__[0]) < 4, reason="no machine learning over Spark Connect before 4.0")
def test_fits_and_queries_belong_to_the_user_of_the_client(tmp_path):
    scheduler, port = ConstantScheduler(cores=1.0), free_port()
    conf = {
        **launch_conf(),
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.connect.grpc.binding.port": str(port),
        "spark.slaq.python": sys.executable,
        "spark.slaq.endpoint": scheduler.endpoint,
    }
    command = [str(HOME / "bin" / "spark-submit"), "--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    command += [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    environment = {**os.environ, "SPARK_HOME": str(HOME), "PYSPARK_PYTHON": sys.executable}
    with (tmp_path / "server.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=tmp_path)
    try:
        wait_for(port, server)
        clients = [
            subprocess.Popen(
                [sys.executable, str(CLIENT), f"sc://127.0.0.1:{port}/;user_id={user}", f"fit of {user}"],
                stdout=subprocess.PIPE, text=True, cwd=tmp_path,
            )
            for user in ("ann_b", "ben")
        ]  # fmt: skip
        said = [client.communicate(timeout=120)[0].split() for client in clients]
        time.sleep(1.0)  # the last beat
    finally:
        server.terminate()
        server.wait(30)
        scheduler.close()
    assert said == [["True", "3"], ["True", "3"]], (tmp_path / "server.log").read_text()[-3000:]
    fits = {declared.user: declared for declared in scheduler.declared.values() if declared.estimator == "KMeans"}
    assert {user: declared.name for user, declared in fits.items()} == {"ann_b": "fit of ann_b", "ben": "fit of ben"}
    reported = [job for job, declared in scheduler.declared.items() if declared.estimator == "KMeans"]
    assert all(len(scheduler.reports[job]) >= 8 for job in reported)
    other = {declared.user for declared in scheduler.declared.values() if declared.estimator == "other work"}
    assert other <= {"ann_b", "ben"}, "queries are their user's, not the server's"

"""A real Spark Connect server on a cluster: losses that are summed inside tasks arrive, with nothing to set up."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pyspark
import pytest

from slaq.cli._local_connect import SERVER
from slaq.spark.jar import launch_conf
from tests.driver.obedient import ConstantScheduler
from tests.scheduler.random_kills import free_port

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(400)]

HOME = Path(pyspark.__file__).parent
CLIENT = Path(__file__).with_name("connect_summed_losses.py")


@pytest.mark.skipif(int(pyspark.__version__[0]) < 4, reason="no machine learning over Spark Connect before 4.0")
def test_losses_that_are_summed_in_tasks_arrive_from_a_connect_server_on_a_cluster(tmp_path):
    pytest.importorskip("grpc", reason="Spark Connect clients need pyspark[connect]")
    scheduler, port = ConstantScheduler(cores=1.0), free_port()
    conf = {
        **launch_conf(),
        "spark.master": "local-cluster[1,2,700]",
        "spark.executor.memory": "512m",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.connect.grpc.binding.port": str(port),
        "spark.slaq.python": sys.executable,
        "spark.slaq.endpoint": scheduler.endpoint,
    }
    command = [str(HOME / "bin" / "spark-submit"), "--class", SERVER]
    command += [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    environment = {**os.environ, "SPARK_HOME": str(HOME), "PYSPARK_PYTHON": sys.executable}
    with (tmp_path / "server.log").open("wb") as log:
        server = subprocess.Popen([*command, "spark-internal"], stdout=log, stderr=log, env=environment, cwd=tmp_path)
    try:
        wait_for(tmp_path / "server.log", "Spark Connect server started", server)
        client = [sys.executable, str(CLIENT), f"sc://127.0.0.1:{port}/;user_id=ann"]
        said = subprocess.run(client, capture_output=True, text=True, timeout=240, cwd=tmp_path)
        time.sleep(1.0)  # the last beat
    finally:
        server.terminate()
        server.wait(30)
        scheduler.close()
    assert said.stdout.split() == ["60", "60", "2", "60"], said.stderr[-3000:]
    losses = {made.estimator: scheduler.reports[job] for job, made in scheduler.declared.items() if made.ml}
    assert {name: len(reports) for name, reports in losses.items()} == {
        "ALS": 2, "GBTClassifier": 2, "LDA": 2, "Word2Vec": 2
    }  # fmt: skip
    assert all(report.loss is not None for reports in losses.values() for report in reports)


def wait_for(log: Path, text: str, server: subprocess.Popen[bytes]) -> None:
    ends = time.monotonic() + 90.0
    while text not in log.read_text():
        assert time.monotonic() < ends, log.read_text()[-3000:]
        assert server.poll() is None, log.read_text()[-3000:]
        time.sleep(0.2)

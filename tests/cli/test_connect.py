"""`slaq connect`: a real Spark Connect server with SLAQ in it, and unmodified clients of two users."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from slaq.cli import _local_connect
from slaq.cli import _processes as processes
from slaq.errors import SlaqError
from tests.cli.command import slaq

CLIENT = Path(__file__).with_name("connect_client.py")
needs_connect = pytest.mark.skipif(int(pyspark.__version__[0]) < 4, reason="no machine learning over Connect before")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Iterator[Path]:
    pytest.importorskip("grpc", reason="Spark Connect clients need pyspark[connect]")
    path = tmp_path_factory.mktemp("connect")
    result = slaq("connect", "up", "--dir", str(path), "--cores", "2", "--epoch", "0.5")
    assert result.code == 0, result.err
    assert 'SparkSession.builder.remote("sc://127.0.0.1:' in result.out
    try:
        yield path
    finally:
        assert slaq("connect", "down", "--dir", str(path)).out == "3 processes ended\n", "server, sidecar, scheduler"
        assert [found.command for found in processes.running() if str(path) in found.command] == []


def facts(folder: Path) -> dict:
    return json.loads(slaq("connect", "status", "--dir", str(folder), "--format", "json").out)


@needs_connect
@pytest.mark.spark
@pytest.mark.slow
def test_fits_and_queries_belong_to_the_user_of_the_client(folder):
    there = facts(folder)
    assert there["running"]
    clients = [
        subprocess.Popen(
            [sys.executable, str(CLIENT), f"{there['remote']}/;user_id={user}", f"fit of {user}"],
            stdout=subprocess.PIPE, text=True, cwd=folder,
        )
        for user in ("ann_b", "ben")
    ]  # fmt: skip
    said = [client.communicate(timeout=120)[0].split() for client in clients]
    assert said == [["True", "3"], ["True", "3"]], (folder / "logs" / "server.log").read_text()[-3000:]
    at = ("--state", "all", "--endpoint", there["endpoint"], "--format", "json")
    time.sleep(1.0)  # the last beat
    for user in ("ann_b", "ben"):
        jobs = json.loads(slaq("jobs", "--user", user, *at).out)["jobs"]
        (fit,) = [job for job in jobs if job["estimator"] == "KMeans"]
        assert (fit["user"], fit["name"]) == (user, f"fit of {user}")
        assert fit["reports"] >= 8
    everything = json.loads(slaq("jobs", *at).out)["jobs"]
    assert {job["user"] for job in everything} <= {"ann_b", "ben"}, "queries are their user's, not the server's"


@needs_connect
@pytest.mark.spark
@pytest.mark.slow
def test_up_again_finds_it_running_and_its_folder_is_its_own(folder):
    again = slaq("connect", "up", "--dir", str(folder), "--cores", "2", "--epoch", "0.5")
    assert (again.code, again.out.startswith("Already running")) == (0, True)
    other = slaq("connect", "up", "--dir", str(folder), "--cores", "1")
    assert other.err == f"slaq: another Connect server runs in {folder}; end it first: slaq connect down\n"
    cluster = slaq("cluster", "up", "--dir", str(folder))
    assert cluster.err == f"slaq: {folder} is the folder of a `slaq connect up`; give another --dir\n"


def test_where_nothing_runs_status_says_so(tmp_path):
    result = slaq("connect", "status", "--dir", str(tmp_path))
    assert (result.code, result.out) == (1, f"No Connect server runs in {tmp_path}\n")
    assert slaq("connect", "down", "--dir", str(tmp_path / "never")).out == "Nothing was running\n"


def test_a_pyspark_without_the_servers_jar_is_told_how_to_get_it(tmp_path, monkeypatch):
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "spark-core_2.12-3.5.8.jar").touch()
    monkeypatch.setattr(_local_connect, "spark_home", lambda: tmp_path)
    with pytest.raises(SlaqError, match=r"--packages org\.apache\.spark:spark-connect_2\.12:3\.5\.8 --class"):
        _local_connect.require_connect()

"""The tab SLAQ in Spark's own UI, over HTTP: what it shows, who may see it, and how it fails."""

import base64
import hashlib
import hmac
import json
import zipfile
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pyspark
import pytest

from slaq.spark.jar import jar_path

pytestmark = [pytest.mark.spark, pytest.mark.slow]

HOSTILE = "<script>alert(1)</script>&\"'\u202e" + "x" * 10_000
KEY = b"an-hmac-key-of-at-least-thirty-two-bytes"
JWS = "org.apache.spark.ui.JWSFilter"
HAS_FILTER = int(pyspark.__version__.split(".")[0]) >= 4

PROGRAM = """
import json, os, sys, time, urllib.error, urllib.request

os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
import slaq
from pyspark.ml.classification import LogisticRegression
from pyspark.ml.evaluation import BinaryClassificationEvaluator
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder
from pyspark.sql import SparkSession
from tests.spark import training_data

jar, conf, name, steps = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3]), json.loads(sys.argv[4])
builder = SparkSession.builder.master("local[2]").config("spark.ui.port", "0")
builder = builder.config("spark.driver.extraJavaOptions", f"-javaagent:{jar}")
builder = builder.config("spark.slaq.python", sys.executable).config("spark.plugins", "io.slaq.bridge.SlaqPlugin")
for key, value in conf.items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
url = "http://127.0.0.1:" + spark.sparkContext.uiWebUrl.rpartition(":")[2]

def get(path, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(url + path, headers=headers), timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""

found = {"empty": (0, "told nothing yet")}
until = time.monotonic() + 60
while "told nothing yet" in found["empty"][1] and time.monotonic() < until:  # the sidecar starts
    found["empty"] = get("/SLAQ/", **steps["headers"])
with slaq.attach(spark):
    if steps["train"]:
        estimator = LogisticRegression(maxIter=3)
        grid = ParamGridBuilder().addGrid(estimator.regParam, [0.125, 0.25]).build()
        search = CrossValidator(estimator=estimator, estimatorParamMaps=grid, evaluator=BinaryClassificationEvaluator())
        search.setNumFolds(2).fit(training_data.points(spark))
    with slaq.job(name, max_iterations=10):
        for k in range(8):
            slaq.report(6.0 / (k + 1))
        found["losses"] = [job.loss for job in slaq.jobs()]  # they have arrived
        time.sleep(2.5)  # a page may be two seconds old
        for step, (path, headers) in steps["requests"].items():
            found[step] = get(path, **headers)
    found["faults"] = json.loads(spark._jvm.io.slaq.bridge.Bridge.current().poll(1, 0))["counters"]["faults"]
found["after"] = get("/SLAQ/", **steps["headers"])
print(json.dumps(found))
spark.stop()
"""


def token() -> str:
    """What Spark's JWS filter takes."""

    def part(data: bytes) -> str:
        return base64.urlsafe_b64encode(data).decode().rstrip("=")

    claims = ".".join((part(b'{"alg":"HS256"}'), part(b'{"sub":"test"}')))
    return f"{claims}.{part(hmac.new(KEY, claims.encode(), hashlib.sha256).digest())}"


def run(run_driver: Callable[..., Any], jar: Path, conf: dict[str, str], requests: Any, **steps: Any) -> Any:
    given = {"headers": {}, "train": False, "requests": requests, **steps}
    arguments = [json.dumps(each) for each in (conf, HOSTILE, given)]
    done = run_driver(PROGRAM, str(jar), *arguments, whole=True)
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def test_it_shows_the_jobs_to_whom_sparks_filters_and_acls_let_in(run_driver: Callable[..., Any]) -> None:
    conf = {"spark.acls.enable": "true", "spark.ui.view.acls": "alice"}
    headers = {}
    if HAS_FILTER:
        headers = {"Authorization": f"Bearer {token()}"}
        conf["spark.ui.filters"] = JWS
        conf[f"spark.{JWS}.param.secretKey"] = base64.urlsafe_b64encode(KEY).decode()
    requests = {
        "shown": ("/SLAQ/", headers),
        "spark": ("/jobs/", headers),
        "alice": ("/SLAQ/?doAs=alice", headers),
        "mallory": ("/SLAQ/?doAs=mallory", headers),
        "nobody": ("/SLAQ/", {}),
    }
    found, _ = run(run_driver, jar_path(), conf, requests, headers=headers, train=True)
    assert found["empty"][0] == 200
    assert "No job has begun yet" in found["empty"][1]
    status, page = found["shown"]
    assert status == 200
    table = page[page.index('id="slaq"') :]
    assert "<script>alert" not in page
    assert f"<bdi>{HOSTILE.split(chr(0x202E))[0]}\N{REPLACEMENT CHARACTER}xxx" in unescape(table)
    assert "x" * 200 not in table, "a name is cut"
    assert "\u202e" not in table
    assert "0.75" in table
    assert "regParam=0.125" in table
    assert "regParam=0.25" in table
    assert ": 5 jobs</bdi>" in table, "two candidates in two folds, and the best one again"
    assert '<progress max="100" value="' in table
    assert 'href="http' not in table, "no scheduler, no link"
    assert ">SLAQ</a>" in found["spark"][1], "beside Spark's own tabs"
    assert found["alice"][0] == 200
    assert found["mallory"][0] == 403
    if HAS_FILTER:
        assert found["nobody"][0] == 403
    assert found["after"][0] == 200, "the plugin's tab stays"
    assert found["faults"] == {}


def altered(target: Path, change: Callable[[str, bytes], bytes | None]) -> Path:
    """A copy of the jar, each entry changed by a function of its name and content; None leaves it out."""
    with zipfile.ZipFile(jar_path()) as source, zipfile.ZipFile(target, "w") as copy:
        for name in source.namelist():
            data = change(name, source.read(name))
            if data is not None:
                copy.writestr(name, data)
    return target


LOOKS = {"first": ("/SLAQ/", {}), "jobs": ("/jobs/", {}), "second": ("/SLAQ/", {})}


def test_a_spark_whose_ui_differs_has_no_tab_and_all_the_rest(run_driver: Callable[..., Any], tmp_path: Path) -> None:
    line = b"io/slaq/ui/Tab member org/apache/spark/ui/WebUI attachTabTwice (I)V\n"
    jar = altered(tmp_path / "a.jar", lambda name, data: data + line if name == "META-INF/slaq/contract" else data)
    found, stderr = run(run_driver, jar, {}, LOOKS)
    assert ">SLAQ</a>" not in found["jobs"][1]
    assert (found["faults"], found["losses"]) == ({}, [0.75])
    warnings = [each for each in stderr.splitlines() if "no tab in Spark's UI" in each]
    assert len(warnings) == 1
    assert "WebUI.attachTabTwice (I)V" in warnings[0]


def test_a_page_that_fails_is_taken_out_and_nothing_else(run_driver: Callable[..., Any], tmp_path: Path) -> None:
    jar = altered(tmp_path / "b.jar", lambda name, data: None if name == "io/slaq/ui/Rows.class" else data)
    found, stderr = run(run_driver, jar, {}, LOOKS)
    assert found["empty"][0] == 200
    assert "driver's log says why" in found["empty"][1]
    assert ">SLAQ</a>" not in found["jobs"][1]
    assert (found["faults"], found["losses"]) == ({}, [0.75])
    assert len([each for each in stderr.splitlines() if "no tab in Spark's UI" in each]) == 1

"""Losses in MLflow: each fit's in the run that was active where `fit` was called, with a real tracking store."""

import itertools
import json
import logging
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import mlflow
import mlflow.pyspark.ml
import pytest
from pyspark.ml import Pipeline
from pyspark.ml.classification import LogisticRegression
from pyspark.ml.evaluation import BinaryClassificationEvaluator
from pyspark.ml.linalg import Vectors
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder
from pyspark.ml.wrapper import JavaEstimator

import slaq
from slaq.sdk import mlflow_runs
from tests.driver.session import start

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FAST = {"epoch_s": 0.2, "lease_s": 2.0}


@pytest.fixture(scope="module")
def spark():
    session = start()
    yield session
    slaq.detach()
    session.stop()


@pytest.fixture(scope="module")
def data(spark):
    rows = [(float(k % 3 == 0), Vectors.dense(k % 7, (k * k) % 5, k % 2)) for k in range(200)]
    cached = spark.createDataFrame(rows, ["label", "features"]).repartition(2).cache()
    cached.count()
    return cached


@pytest.fixture(autouse=True)
def store(tmp_path_factory):
    place = tmp_path_factory.getbasetemp()
    mlflow.set_tracking_uri(f"sqlite:///{place}/runs.db")
    if mlflow.get_experiment_by_name("fits") is None:
        # Otherwise autologging writes its files into the working directory.
        mlflow.create_experiment("fits", artifact_location=(place / "artifacts").as_uri())
    mlflow.set_experiment("fits")
    yield
    while mlflow.active_run() is not None:
        mlflow.end_run()


def curves(run_id):
    """The losses of each fit in a run; whatever else is logged there is not ours."""
    client = mlflow.MlflowClient()
    keys = [key for key in client.get_run(run_id).data.metrics if key.startswith("loss/")]
    return {key: [metric.value for metric in client.get_metric_history(run_id, key)] for key in keys}


def search_of(count):
    estimator = LogisticRegression(maxIter=3)
    grid = ParamGridBuilder().addGrid(estimator.regParam, [0.1 * (n + 1) for n in range(count)]).build()
    return CrossValidator(
        estimator=estimator,
        estimatorParamMaps=grid,
        evaluator=BinaryClassificationEvaluator(),
        numFolds=2,
        parallelism=8,
    )


def test_every_loss_is_in_the_run_of_its_thread(spark, data):
    runs, histories = {}, {}

    def train(name, reg):
        with mlflow.start_run(run_name=name) as run:
            model = LogisticRegression(maxIter=5, regParam=reg).fit(data)
        runs[name], histories[name] = run.info.run_id, list(model.summary.objectiveHistory)

    with slaq.attach(spark, **FAST):
        with mlflow.start_run() as outer:
            model = LogisticRegression(maxIter=3).fit(data)
            with mlflow.start_run(nested=True) as inner:
                nested = Pipeline(stages=[LogisticRegression(maxIter=4, regParam=0.3)]).fit(data).stages[0]
            threads = [threading.Thread(target=train, args=(f"t{n}", 0.1 * n)) for n in (1, 2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        LogisticRegression(maxIter=2).fit(data)
    runs |= {"outer": outer.info.run_id, "inner": inner.info.run_id}
    histories |= {"outer": list(model.summary.objectiveHistory), "inner": list(nested.summary.objectiveHistory)}
    assert {name: curves(run_id) for name, run_id in runs.items()} == {
        name: {"loss/LogisticRegression": pytest.approx(losses)} for name, losses in histories.items()
    }
    assert len(mlflow.search_runs(output_format="list")) == 4, "a fit without a run makes none"
    assert "_following" not in JavaEstimator._fit.__code__.co_qualname


def test_a_second_fit_has_a_curve_of_its_own_and_a_later_attachment_goes_on_counting(spark, data):
    with mlflow.start_run() as run:
        for reg in (0.5, 0.25):
            with slaq.attach(spark, **FAST):
                LogisticRegression(maxIter=2, regParam=reg).fit(data)
    assert sorted(curves(run.info.run_id)) == ["loss/LogisticRegression", "loss/LogisticRegression-2"]
    tags = mlflow.get_run(run.info.run_id).data.tags
    assert [json.loads(tags[f"slaq.LogisticRegression{n}"])["regParam"] for n in ("", "-2")] == [0.5, 0.25]


@pytest.mark.parametrize("autologging", [False, True])
def test_candidates_of_a_search_are_in_the_run_of_its_caller(spark, data, autologging, monkeypatch):
    requests = []
    sent = mlflow_runs.send_to_mlflow
    monkeypatch.setattr(mlflow_runs, "send_to_mlflow", lambda *given: (requests.append(time.monotonic()), sent(*given)))
    # Models are not logged: their place in a store is not what is tested, and takes a Spark save each.
    mlflow.pyspark.ml.autolog(log_models=False, log_datasets=False, disable=not autologging, silent=True)
    try:
        with slaq.attach(spark, **FAST):
            with mlflow.start_run() as run:
                search_of(4).fit(data)
            with mlflow.start_run() as other:
                LogisticRegression(maxIter=2).fit(data)
    finally:
        mlflow.pyspark.ml.autolog(disable=True, silent=True)
    found = curves(run.info.run_id)
    assert len(found) == 9, "four candidates in two folds, and the best one again"
    assert all(len(losses) == 4 for losses in found.values())
    tags = mlflow.get_run(run.info.run_id).data.tags
    trained = [json.loads(value)["regParam"] for key, value in tags.items() if key.startswith("slaq.Log")]
    assert {round(reg, 6) for reg in trained} == {0.1, 0.2, 0.3, 0.4}
    assert [len(losses) for losses in curves(other.info.run_id).values()] == [3]
    assert all(after - before >= 0.99 for before, after in itertools.pairwise(requests))


def test_runs_that_autologging_makes_have_the_losses(spark, data):
    mlflow.pyspark.ml.autolog(log_models=False, log_datasets=False, silent=True)
    known = {run.info.run_id for run in mlflow.search_runs(output_format="list")}
    try:
        with slaq.attach(spark, **FAST):
            model = LogisticRegression(maxIter=3).fit(data)
    finally:
        mlflow.pyspark.ml.autolog(disable=True, silent=True)
    made = [run for run in mlflow.search_runs(output_format="list") if run.info.run_id not in known]
    assert [curves(run.info.run_id) for run in made] == [
        {"loss/LogisticRegression": pytest.approx(list(model.summary.objectiveHistory))}
    ]


def test_it_can_be_switched_off(spark, data):
    with slaq.attach(spark, **FAST, mlflow=False), mlflow.start_run() as run:
        LogisticRegression(maxIter=2).fit(data)
    assert curves(run.info.run_id) == {}


class Counting(BaseHTTPRequestHandler):
    """A tracking server that takes everything and notes when."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((time.monotonic(), self.path, body["run_id"], len(body["metrics"])))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        """Nothing on the terminal."""


def test_a_server_gets_at_most_one_request_a_second_from_a_driver(spark, data):
    with ThreadingHTTPServer(("127.0.0.1", 0), Counting) as server, slaq.attach(spark, **FAST):
        server.requests = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        wanted = {}
        for count in (1, 2):
            with mlflow.start_run() as run:
                mlflow_runs.servers[run.info.run_id] = f"http://127.0.0.1:{server.server_port}"
                models = [LogisticRegression(maxIter=6).fit(data) for _ in range(count)]
                wanted[run.info.run_id] = sum(len(model.summary.objectiveHistory) for model in models)
        slaq.detach()
        server.shutdown()
    at = [request[0] for request in server.requests]
    assert all(after - before >= 0.99 for before, after in itertools.pairwise(at))
    assert {path for _, path, _, _ in server.requests} == {"/api/2.0/mlflow/runs/log-batch"}
    sent = {run: sum(each[3] for each in server.requests if each[2] == run) for run in wanted}
    assert sent == wanted


def test_a_server_that_went_away_costs_a_fit_nothing(spark, data):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        gone = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with slaq.attach(spark, **FAST), mlflow.start_run() as run:
            # As if the server had stopped after the run began: the store of the run refuses connections.
            mlflow_runs.servers[run.info.run_id] = gone
            began = time.monotonic()
            model = LogisticRegression(maxIter=3).fit(data)
            took_s = time.monotonic() - began
            leaving = time.monotonic()
            slaq.detach()
            left_s = time.monotonic() - leaving
    assert model.summary.totalIterations > 0
    assert took_s < 10.0
    assert left_s < 8.0, "a client that retries for minutes is not waited for"
    assert curves(run.info.run_id) == {}


def test_an_mlflow_that_is_broken_costs_its_losses_only(spark, data, monkeypatch, caplog):
    def broken():
        raise RuntimeError("no runs today")

    with slaq.attach(spark, **FAST), mlflow.start_run() as run, caplog.at_level(logging.WARNING, "slaq"):
        monkeypatch.setattr(mlflow, "active_run", broken)
        model = LogisticRegression(maxIter=2).fit(data)
        monkeypatch.undo()
    assert model.summary.totalIterations > 0
    assert "no runs today" in caplog.text
    assert curves(run.info.run_id) == {}


def test_slaq_never_imports_mlflow():
    program = "import sys, slaq.sdk.attach, slaq.sdk.jobs; print('mlflow' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"

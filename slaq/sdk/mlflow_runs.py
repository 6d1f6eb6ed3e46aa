"""Which MLflow run a fit belongs to, and how its losses get there. Used only if the program imported mlflow.

While attached, five methods of PySpark that every fit goes through note the run that is active in their thread as a
local property of Spark. The JVM tells it with the fit's beginning. Threads of CrossValidator, TrainValidationSplit and
OneVsRest have no run of their own; they inherit Spark's local properties, and with them the run of their caller.
"""

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

from pyspark import SparkContext

from slaq.driver.notices import once
from slaq.driver.tracking import RUNS_KEPT, CurveNames, Measured, RunLogger
from slaq.spark.records import Begin

PROPERTY = "slaq.run"
"""The local property; the bridge reads it."""

NAMES = CurveNames()
"""As long as the process: a run may outlast an attachment."""

servers: dict[str, str] = {}
"""The tracking server of each run; of the latest RUNS_KEPT."""
_originals: dict[type, Callable[..., Any]] = {}


def run_logger() -> RunLogger:
    """What sends the losses of every fit that has a run."""
    return RunLogger(send_to_mlflow, NAMES, _place)


def follow_runs(context: SparkContext) -> None:
    """Note the active run of every fit from now on, until `forget_runs`."""
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import OneVsRest
    from pyspark.ml.tuning import CrossValidator, TrainValidationSplit
    from pyspark.ml.wrapper import JavaEstimator

    for kind in (JavaEstimator, Pipeline, CrossValidator, TrainValidationSplit, OneVsRest):
        if kind not in _originals:
            # `_fit` and not `fit`: it runs inside whatever MLflow's autologging puts around `fit`.
            _originals[kind] = kind._fit
            kind._fit = _following(kind._fit, context)  # type: ignore[method-assign]


def forget_runs() -> None:
    """PySpark's methods as they were."""
    while _originals:
        kind, original = _originals.popitem()
        kind._fit = original  # type: ignore[attr-defined]


def send_to_mlflow(run: str, losses: Sequence[Measured]) -> None:
    """Log the losses in one request: metrics `loss/LogisticRegression`, and the parameters of new fits as tags."""
    mlflow: Any = sys.modules["mlflow"]
    entities = mlflow.entities
    metrics = [entities.Metric(f"loss/{each.curve}", each.value, each.at_ms, each.step) for each in losses]
    tags = [entities.RunTag(f"slaq.{each.curve}", each.params) for each in losses if each.params]
    mlflow.MlflowClient(tracking_uri=servers.get(run)).log_batch(run, metrics=metrics, tags=tags)


def _place(begin: Begin) -> tuple[str, str] | None:
    return (begin.run, begin.estimator) if begin.run else None


def _following(fit: Callable[..., Any], context: SparkContext) -> Callable[..., Any]:
    @functools.wraps(fit)
    def followed(self: Any, dataset: Any) -> Any:
        run = _active_run()
        if run is None or context._jsc is None:
            return fit(self, dataset)
        before = context.getLocalProperty(PROPERTY)
        context.setLocalProperty(PROPERTY, run)
        try:
            return fit(self, dataset)
        finally:
            if context._jsc is not None:
                context.setLocalProperty(PROPERTY, before)  # type: ignore[arg-type]

    return followed


def _active_run() -> str | None:
    """The id of this thread's MLflow run; None: it has none, or nobody imported mlflow."""
    mlflow: Any = sys.modules.get("mlflow")
    if mlflow is None:
        return None
    try:
        active = mlflow.active_run()
        if active is None:
            return None
        run: str = active.info.run_id
        if run not in servers:
            while len(servers) >= RUNS_KEPT:
                del servers[next(iter(servers))]
            servers[run] = mlflow.get_tracking_uri()
        return run
    except Exception as error:
        once("active run", "the active MLflow run could not be read (%r); losses of this fit are not logged", error)
        return None

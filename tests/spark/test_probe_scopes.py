"""What is a job: the innermost fit, in whatever thread and inside whatever wrapper it runs, and how it ended."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.ml import Pipeline
from pyspark.ml.classification import LogisticRegression, OneVsRest
from pyspark.ml.evaluation import BinaryClassificationEvaluator
from pyspark.ml.feature import StandardScaler, Word2Vec
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder
from pyspark.sql import DataFrame, SparkSession

from slaq.spark.bridge import Bridge
from slaq.spark.records import End, Loss
from tests.spark import training_data
from tests.spark.probe_watch import drain, watch

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def points(spark: SparkSession) -> DataFrame:
    return training_data.points(spark).cache()


@pytest.fixture
def validator() -> CrossValidator:
    logistic = LogisticRegression(maxIter=2, tol=0.0)
    grid = ParamGridBuilder().addGrid(logistic.maxIter, [2, 3]).build()
    return CrossValidator(
        estimator=logistic,
        estimatorParamMaps=grid,
        evaluator=BinaryClassificationEvaluator(),
        numFolds=2,
        parallelism=4,
        seed=1,
    )


def test_every_candidate_of_a_python_cross_validator_is_a_job(
    spark: SparkSession, points: DataFrame, validator: CrossValidator
) -> None:
    with watch(spark) as seen:
        validator.fit(points)
    # Two folds of two candidates, and the best of them once more on all data.
    assert len(seen.jobs) == 5
    for job in seen.jobs:
        assert len(job.losses) == job.begin["params"]["maxIter"] + 1
        assert job.end is not None
        assert job.end["ok"]


def test_fits_in_the_threads_of_a_jvm_cross_validator_know_their_parent(
    spark: SparkSession, points: DataFrame, validator: CrossValidator
) -> None:
    with watch(spark) as seen:
        validator._to_java().fit(points._jdf)
    wrapper, *jobs = seen.fits
    assert wrapper.estimator == "CrossValidator"
    assert wrapper.begin["wrapper"]
    assert wrapper.losses == []
    assert len(jobs) == 5
    assert {job.begin["parent"] for job in jobs} == {wrapper.begin["job"]}
    assert all(len(job.losses) == job.begin["params"]["maxIter"] + 1 for job in jobs)
    # The last fit runs in the wrapper's own thread, the others in threads it started.
    assert len({job.begin["thread"] for job in jobs}) > 1


def test_a_pipeline_and_one_vs_rest_are_parents_all_the_way(spark: SparkSession, points: DataFrame) -> None:
    scaler = StandardScaler(inputCol="features", outputCol="scaled")
    rest = OneVsRest(classifier=LogisticRegression(maxIter=2, featuresCol="scaled"), featuresCol="scaled")
    with watch(spark) as seen:
        Pipeline(stages=[scaler, rest])._to_java().fit(points._jdf)
    pipeline, one_vs_rest, *jobs = seen.fits
    assert (pipeline.estimator, one_vs_rest.estimator) == ("Pipeline", "OneVsRest")
    assert one_vs_rest.begin["parent"] == pipeline.begin["job"]
    assert [job.estimator for job in jobs] == ["LogisticRegression", "LogisticRegression"]
    assert {job.begin["parent"] for job in jobs} == {one_vs_rest.begin["job"]}


def test_an_estimator_without_a_scope_of_its_own_is_a_job_inside_a_pipeline(spark: SparkSession) -> None:
    words = Word2Vec(vectorSize=2, minCount=0, inputCol="words", outputCol="vector", seed=1)
    with watch(spark) as seen:
        Pipeline(stages=[words])._to_java().fit(training_data.sentences(spark)._jdf)
    pipeline, job = seen.fits
    assert job.begin["parent"] == pipeline.begin["job"]
    assert len(job.losses) == 1


def test_parallel_fits_keep_their_curves_apart(spark: SparkSession, points: DataFrame) -> None:
    def fit(regularisation: float) -> list[float]:
        return list(LogisticRegression(maxIter=4, regParam=regularisation).fit(points).summary.objectiveHistory)

    with watch(spark) as seen, ThreadPoolExecutor(3) as threads:
        histories = list(threads.map(fit, [0.1, 0.2, 0.3]))
    curves = {job.begin["params"]["regParam"]: job.losses for job in seen.jobs}
    assert [curves[regularisation] for regularisation in (0.1, 0.2, 0.3)] == histories


def test_a_fit_that_fails_says_so_and_leaves_no_scope_behind(spark: SparkSession, points: DataFrame) -> None:
    broken = points.selectExpr("double(raise_error('no such luck')) as label", "features")
    with watch(spark) as seen:
        with pytest.raises((PySparkException, Py4JJavaError), match="no such luck"):
            LogisticRegression(maxIter=2).fit(broken)
        LogisticRegression(maxIter=2).fit(points)
    failed, fine = seen.jobs
    assert failed.end is not None
    assert not failed.end["ok"]
    assert failed.end["error"]
    assert fine.begin["parent"] is None
    assert len(fine.losses) == 3


@pytest.mark.parametrize("start", ["", "x"])
def test_a_long_error_is_cut_between_characters(bridge: Bridge, points: DataFrame, start: str) -> None:
    # One of the two starts puts the cut inside a character, which takes two places in Java.
    broken = points.selectExpr(
        f"double(raise_error(concat('{start}', repeat('\U0001f600', 600)))) as label", "features"
    )
    with pytest.raises((PySparkException, Py4JJavaError)):
        LogisticRegression(maxIter=2).fit(broken)
    errors = [event.error for event in bridge.poll().events if isinstance(event, End) and not event.ok]
    assert 498 <= sum(len(character.encode("utf-16-le")) // 2 for character in errors[-1]) <= 500


def test_a_fit_tells_its_parameters_and_its_time(spark: SparkSession, points: DataFrame) -> None:
    with watch(spark) as seen:
        model = LogisticRegression(maxIter=3, tol=1e-9, regParam=0.5).fit(points)
    job = seen.only()
    params = job.begin["params"]
    assert (params["maxIter"], params["tol"], params["regParam"]) == (3, 1e-9, 0.5)
    assert job.begin["uid"] == model.uid
    assert job.begin["api"] == "ml"
    assert job.end is not None
    assert 0 <= job.begin["nanos"] < job.end["nanos"]


def test_the_ring_drops_the_oldest_and_counts_them(spark: SparkSession) -> None:
    probe = spark._jvm.io.slaq.probe
    drain(spark)
    before = probe.Events.dropped()
    probe.Timing.nanosPerLoss(70_000)
    # Begin and end of the fit are events too.
    assert probe.Events.dropped() - before == 70_002 - 65_536
    assert probe.Events.pending() == 65_536
    newest = drain(spark)
    assert newest[-1]["event"] == "end"
    assert newest[-2]["iteration"] == 69_999


def test_events_come_again_until_they_are_acknowledged(spark: SparkSession, bridge: Bridge) -> None:
    drain(spark)
    spark._jvm.io.slaq.probe.Timing.nanosPerLoss(20)
    first = bridge.poll()
    losses = [event for event in first.events if isinstance(event, Loss)]
    assert [event.iteration for event in losses] == list(range(20))
    assert bridge.poll().events == first.events
    assert [event.seq for event in first.events] == sorted({event.seq for event in first.events})

    middle = losses[7].seq
    assert [event.seq for event in bridge.poll(middle).events] == [e.seq for e in first.events if e.seq > middle]
    assert bridge.poll(0).events[0].seq == losses[8].seq, "what was acknowledged is forgotten"

    bridge.acknowledge(first.complete)
    assert bridge.poll().events == []


def test_a_poll_that_is_cut_short_says_how_far_it_is_complete(spark: SparkSession, bridge: Bridge) -> None:
    drain(spark)
    spark._jvm.io.slaq.probe.Timing.nanosPerLoss(30)
    seen, acked = [], 0
    while (poll := bridge.poll(acked, max_events=7)).events:
        assert len(poll.events) <= 7
        assert poll.complete >= poll.events[-1].seq
        seen += [event.iteration for event in poll.events if isinstance(event, Loss)]
        acked = poll.complete
    assert seen == list(range(30))

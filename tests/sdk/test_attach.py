"""`slaq.attach` in a running session: fits become jobs, models stay what they are, nothing is left behind."""

import json
import threading
import time
import urllib.error
import urllib.request

import pytest
from pyspark.ml.classification import GBTClassifier, LogisticRegression, MultilayerPerceptronClassifier
from pyspark.ml.linalg import Vectors

import slaq
from slaq.errors import SlaqError
from slaq.protocol import Change
from slaq.scheduler.query import JobQuery
from tests.driver.session import example, start
from tests.driver.test_event_files import by_fit

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def spark():
    session = start()
    yield session
    slaq.detach()
    session.stop()


@pytest.fixture(scope="module")
def data(spark):
    rows = [(float(k % 3 == 0), Vectors.dense(k % 7, (k * k) % 5, k % 2)) for k in range(600)]
    cached = spark.createDataFrame(rows, ["label", "features"]).repartition(2).cache()
    cached.count()
    return cached


@pytest.fixture(scope="module")
def plain(data):
    """What Spark finds without SLAQ; a fixture of the module is made before a test attaches."""
    model = LogisticRegression(maxIter=6, regParam=0.01).fit(data)
    return {
        "coefficients": model.coefficients.toArray().tolist(),
        "objective": list(model.summary.objectiveHistory),
    }


@pytest.fixture(scope="module")
def plain_metrics(spark):
    """What the cross validator finds without SLAQ."""
    tuning = example("cross_validator")
    return tuning.tune(tuning.training_data(spark)).avgMetrics


@pytest.fixture
def attached(spark):
    with slaq.attach(spark, epoch_s=0.2, lease_s=2.0) as attachment:
        yield attachment


def eventually(condition, timeout_s=60.0):
    """The condition's value once it is true; the loop turns ten times a second."""
    ends = time.monotonic() + timeout_s
    while not (value := condition()) and time.monotonic() < ends:
        time.sleep(0.05)
    return value


def ended(estimator="LogisticRegression"):
    return [job for job in slaq.jobs() if job.estimator == estimator and job.state == "ended"]


def open_pools(attachment):
    return [usage.job for usage in attachment.loop.bridge.poll().jobs if not usage.ended]


def running_threads(name):
    return sum(thread.name == name for thread in threading.enumerate())


def pool_of_thread(spark):
    return spark.sparkContext.getLocalProperty("spark.scheduler.pool")


@pytest.mark.usefixtures("attached")
def test_a_fit_is_a_job_with_its_loss_curve_and_the_same_model(data, plain):
    model = LogisticRegression(maxIter=6, regParam=0.01).fit(data)
    (job,) = eventually(ended)
    assert list(job.losses) == list(model.summary.objectiveHistory) == plain["objective"]
    assert model.coefficients.toArray().tolist() == plain["coefficients"]
    assert job.cpu_s > 0.0


def test_a_cross_validator_is_as_many_jobs_as_fits_and_finds_the_same(attached, spark, plain_metrics):
    tuning = example("cross_validator")
    found = tuning.tune(tuning.training_data(spark), parallelism=4).avgMetrics
    # Spark itself adds partitions up in the order in which their tasks end, so the last digit varies without SLAQ too.
    assert found == pytest.approx(plain_metrics, rel=1e-12)
    fits = eventually(lambda: len(ended()) == 4 * 2 + 1 and ended())
    assert all(len(job.losses) > 1 for job in fits)
    assert len({job.id for job in fits}) == 9
    assert eventually(lambda: open_pools(attached) == ["default"])
    assert pool_of_thread(spark) is None


def test_fits_at_the_same_time_share_the_cores(attached, spark):
    tuning = example("cross_validator")
    cores = []
    scheduler = attached.connection.embedded.scheduler
    data = tuning.training_data(spark)
    search = threading.Thread(target=lambda: tuning.tune(data, parallelism=4))
    search.start()
    while search.is_alive():
        cores.append([job.cores for job in slaq.jobs() if job.state == "running" and job.cores is not None])
        assert scheduler.status().granted_cores <= 2.0 + 1e-6
        time.sleep(0.1)
    assert scheduler.status().capacity.cores == 2
    assert any(len(granted) > 1 for granted in cores)


@pytest.mark.usefixtures("attached")
def test_a_fit_in_a_named_job_takes_its_name_weight_and_target(data):
    with slaq.job("sweep-7", weight=2.0, target_loss=0.31):
        LogisticRegression(maxIter=5, regParam=0.5).fit(data)
    (job,) = eventually(ended)
    assert job.name.startswith("sweep-7/LogisticRegression_")
    assert (job.weight, job.target_loss) == (2.0, 0.31)


def test_a_loop_of_ones_own_runs_in_a_pool_of_its_own(attached, spark):
    optimizer = example("custom_optimizer")
    optimizer.train(spark)
    (job,) = eventually(lambda: ended("custom"))
    assert (job.name, job.weight, len(job.losses)) == ("svm-polynomial", 2.0, optimizer.STEPS)
    assert job.losses[-1] < 0.5 * job.losses[0]
    assert job.cpu_s > 0.0
    assert pool_of_thread(spark) is None
    assert eventually(lambda: open_pools(attached) == ["default"])


@pytest.mark.usefixtures("attached")
def test_threads_that_ask_and_tell_are_jobs_under_their_names(spark):
    told = example("ask_tell").main(spark)
    assert len(told) == 6
    fits = eventually(lambda: len(ended("LinearRegression")) == 6 and ended("LinearRegression"))
    assert {job.name.partition("/")[0] for job in fits} == {f"trial-{number}" for number in range(6)}


def test_reports_outside_of_a_job_get_a_pool_too(attached, spark):
    for step in range(3):
        spark.sparkContext.parallelize(range(8), 4).map(lambda x: x).count()
        slaq.report(1.0 / (step + 1))
    job = spark.sparkContext.getLocalProperty("slaq.job")
    assert job.endswith("MainThread")
    assert eventually(lambda: job in open_pools(attached))


def test_other_work_is_a_job_without_a_loss(attached, spark):
    spark.sparkContext.parallelize(range(4), 4).map(lambda _: time.sleep(1.0)).count()
    scheduler = attached.connection.embedded.scheduler
    (job,) = eventually(lambda: [job for job in scheduler.jobs(JobQuery()).jobs if job.estimator == "other work"])
    assert (job.ml, job.name) == (False, "slaq-tests")


def test_an_early_answer_about_an_estimator_is_told(spark, data, caplog):
    # Long enough for decisions between its first and its last tree: the scheduler says how far it has come.
    with slaq.attach(
        spark, epoch_s=0.1, lease_s=2.0, early_answer="tell", early_share=0.3, early_patience=1, early_tolerance=1.0
    ):
        GBTClassifier(maxIter=8, maxDepth=2).fit(data)
        (job,) = eventually(lambda: ended("GBTClassifier"))
    assert job.good_enough is not None
    assert "is good enough at iteration" in caplog.text


def endless():
    """A fit that goes on until somebody stops it."""
    return MultilayerPerceptronClassifier(layers=[3, 3, 2], maxIter=10**6, tol=0.0, seed=1, solver="gd")


def stopped():
    return [job for job in slaq.jobs() if job.state == "stopped"]


class InThread(threading.Thread):
    """A fit in a thread of its own, and the model it returns."""

    def __init__(self, estimator, data):
        super().__init__()
        self.model, self._fit = None, lambda: estimator.fit(data)
        self.start()

    def run(self):
        self.model = self._fit()


@pytest.mark.usefixtures("attached")
def test_a_fit_is_stopped_by_its_uid_and_returns_its_model(data):
    estimator = endless()
    with pytest.raises(SlaqError, match=r"no job .* runs in this application"):
        slaq.stop(estimator)
    fit = InThread(estimator, data)
    job = eventually(lambda: [job for job in slaq.jobs() if job.name == estimator.uid])[0]
    assert slaq.stop(estimator) == f"{job.id} ({estimator.uid}) stops after the iteration under way"
    fit.join(30)
    assert fit.model.transform(data).count() == 600
    assert [job.name for job in eventually(stopped)] == [estimator.uid]
    with pytest.raises(SlaqError, match=r"is over .stopped.; only running jobs can be stopped"):
        slaq.stop(job.id)


def test_a_stop_through_the_scheduler_reaches_the_fit(attached, data):
    scheduler = attached.connection.embedded.scheduler
    fit = InThread(endless(), data)
    (job,) = eventually(lambda: [job for job in scheduler.jobs(JobQuery()).jobs if job.reports and not job.ended_at])
    scheduler.change(job.id, Change(stop=True))
    fit.join(30)
    assert fit.model is not None
    assert eventually(lambda: scheduler.job(job.id).job.state == "stopped")


def test_a_fit_that_is_good_enough_is_stopped_where_that_is_wanted(spark, data):
    with slaq.attach(spark, epoch_s=0.2, lease_s=2.0, early_answer="stop"), slaq.job("aims", target_loss=1e9):
        assert endless().fit(data).transform(data).count() == 600
        (job,) = eventually(stopped)
    assert "has reached the target 1e+09" in job.good_enough


@pytest.mark.parametrize("budget", [{"budget_time_s": 0.5}, {"budget_core_time_s": 0.2}])
def test_a_fit_that_has_used_up_its_budget_is_stopped(spark, data, budget):
    with slaq.attach(spark, epoch_s=0.2, lease_s=2.0, **budget):
        assert endless().fit(data).transform(data).count() == 600
        assert len(eventually(stopped)) == 1


def test_what_jobs_ended_with_is_kept_in_a_journal(spark, data, plain, tmp_path):
    from slaq.driver.journal import read

    with slaq.attach(spark, journal=str(tmp_path / "jobs.jsonl")):
        LogisticRegression(maxIter=6, regParam=0.01).fit(data)
    (job,) = read(tmp_path / "jobs.jsonl")
    assert list(job.losses) == plain["objective"]


class TestAttaching:
    def test_again_is_the_same(self, attached, spark, caplog):
        assert slaq.attach(spark) is attached
        assert slaq.attach() is attached
        assert caplog.text == ""

    def test_again_with_settings_says_that_they_do_not_count(self, attached, spark, caplog):
        assert slaq.attach(spark, progress=False) is attached
        assert caplog.text.count("already attached; slaq.detach() first to change settings") == 1

    def test_shows_itself_in_a_notebook(self, attached):
        assert repr(attached) == "SLAQ: attached to slaq-tests; its own scheduler (finish-line) shares out the cores"

    def test_an_unknown_key_is_refused_in_one_sentence(self, spark):
        with pytest.raises(SlaqError, match=r"unknown key progres; did you mean progress\?"):
            slaq.attach(spark, progres=False)

    @pytest.mark.parametrize(
        "settings",
        [
            {"endpoint": "http://127.0.0.1:1", "token_file": "/no/such/token"},
            {"endpoint": "https://127.0.0.1:1", "ca_file": "/no/such/certificate"},
            {"policy": "no-such-policy"},
        ],
    )
    def test_a_connection_that_cannot_be_made_leaves_spark_as_it_was(self, spark, settings):
        with pytest.raises(SlaqError):
            slaq.attach(spark, **settings)
        assert spark._jvm.io.slaq.bridge.Bridge.current() is None
        assert running_threads("slaq-scheduler") == 0

    def test_a_loop_that_cannot_begin_takes_the_bridge_away_again(self, spark, monkeypatch):
        monkeypatch.setattr("slaq.sdk.attach.finished_fits", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            slaq.attach(spark)
        assert spark._jvm.io.slaq.bridge.Bridge.current() is None
        assert running_threads("slaq-scheduler") == 0

    def test_policy_epoch_and_capacity_of_the_embedded_scheduler_can_be_set(self, spark):
        with slaq.attach(spark, policy="fair", epoch_s=0.5, capacity=7) as attachment:
            scheduler = attachment.connection.embedded.scheduler
            assert eventually(lambda: scheduler.status().capacity.cores == 7)
            assert (scheduler.status().policy, scheduler.status().epoch_s) == ("fair", 0.5)

    def test_something_that_is_no_session_is_refused(self):
        with pytest.raises(SlaqError, match=r"slaq\.attach was given 'spark'; give a SparkSession"):
            slaq.attach("spark")

    def test_detaching_twice_is_fine_and_spark_goes_on(self, spark, data, plain):
        slaq.attach(spark)
        slaq.detach()
        slaq.detach()
        model = LogisticRegression(maxIter=6, regParam=0.01).fit(data)
        assert model.coefficients.toArray().tolist() == plain["coefficients"]
        slaq.report(1.0)


def test_the_page_of_this_driver_shows_its_fits_and_ends_with_the_attachment(spark, data):
    with slaq.attach(spark, ui=True, epoch_s=0.2) as attachment:
        address = attachment.connection.page.address
        assert address in repr(attachment)
        LogisticRegression(maxIter=3).fit(data)

        def names():
            with urllib.request.urlopen(f"{address}v1/jobs", timeout=5) as answer:
                return [job["estimator"] for job in json.load(answer)["jobs"]]

        eventually(lambda: names() == ["LogisticRegression"])
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"{address}healthz", timeout=5)


def test_losses_are_written_for_tensorboard(spark, data, tmp_path):
    with slaq.attach(spark, epoch_s=0.2, lease_s=2.0, tensorboard=str(tmp_path)):
        model = LogisticRegression(maxIter=4).fit(data)
        with slaq.job("by hand"):
            slaq.report(2.5)
    assert by_fit(tmp_path) == {
        "LogisticRegression": list(enumerate(model.summary.objectiveHistory)),
        "by hand": [(0, 2.5)],
    }

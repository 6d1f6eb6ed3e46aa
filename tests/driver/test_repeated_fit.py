"""The same fit twice on real Spark: the second joins with an expectation near what the first one took."""

import time

import pytest
from pyspark.ml.classification import LogisticRegression
from pyspark.ml.linalg import Vectors

import slaq
from slaq.engine import JobJoined
from slaq.scheduler.store.fits_file import FitsFile
from tests.driver.session import start

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def data():
    spark = start()
    rows = [(float(k % 3 == 0), Vectors.dense(k % 7, (k * k) % 5, k % 2, k % 11)) for k in range(4000)]
    cached = spark.createDataFrame(rows, ["label", "features"]).repartition(4).cache()
    cached.count()
    LogisticRegression(maxIter=3).fit(cached)  # the JVM compiles
    yield cached
    slaq.detach()
    spark.stop()


def joined(data, archive, monkeypatch):
    """The events of a fit's joining under a scheduler of the driver's own with this archive."""
    spark = data.sparkSession
    with slaq.attach(spark, epoch_s=0.2, progress=False, archive=str(archive)) as attachment:
        scheduler = attachment.connection.embedded.scheduler
        events = []
        happened = scheduler.recorder.happened

        def heard(event):
            events.append(event)
            happened(event)

        monkeypatch.setattr(scheduler.recorder, "happened", heard)
        time.sleep(0.3)  # the archive is read on a thread of its own
        LogisticRegression(maxIter=15, regParam=0.01, tol=0.0).fit(data)
        deadline = time.monotonic() + 20.0
        while not scheduler.experience.fits and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
    return [event.job for event in events if isinstance(event, JobJoined) and event.job.ml]


def test_the_second_fit_is_expected_to_take_what_the_first_one_took(data, tmp_path, monkeypatch):
    archive = tmp_path / "slaq" / "fits.jsonl"
    first = joined(data, archive, monkeypatch)
    assert first[-1].expected.expected.work_sure == 0.0
    (took,) = FitsFile(archive).read()
    assert took.estimator == "LogisticRegression"
    assert took.traits.params["regParam"] == 0.01
    assert took.traits.partitions == 4.0
    assert took.traits.bytes is not None
    second = joined(data, archive, monkeypatch)
    found = second[-1].expected.expected
    assert found.work_core_s == pytest.approx(took.work_core_s, rel=0.2)
    assert found.ready_core_s == pytest.approx(took.ready_core_s, rel=0.2)
    assert found.at_end == pytest.approx(took.iterations, abs=1)
    assert min(found.work_sure, found.ready_sure, found.length_sure) >= 0.7
    assert len(FitsFile(archive).read()) == 2

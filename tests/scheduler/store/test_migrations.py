"""A history that SLAQ 0.1.0 wrote is brought up to date in place."""

import math
import shutil
import sqlite3
from pathlib import Path

import pytest

from slaq.config import RetentionConfig
from slaq.scheduler.query import JobQuery
from slaq.scheduler.store.database import Database
from slaq.scheduler.store.disk import DiskArchive
from slaq.scheduler.store.schema import VERSION
from tests.scheduler.support import Bench, again, job

OLD = Path(__file__).parent.parent / "written_by_0_1_0" / "history.db"
OLD_INCARNATION = 1794963560429490


@pytest.fixture
def folder(tmp_path):
    shutil.copy(OLD, tmp_path / "history.db")
    return tmp_path


@pytest.fixture
def bench(folder):
    archive = DiskArchive(folder, RetentionConfig(age_d=36_500.0))
    yield Bench(archive=archive, incarnation=archive.incarnation)
    archive.close()


def version(file: Path) -> int:
    connection = sqlite3.connect(file)
    try:
        return connection.execute("PRAGMA user_version").fetchone()[0]
    finally:
        connection.close()


def test_ended_jobs_keep_their_curves_and_explanations(bench, folder):
    assert version(folder / "history.db") == VERSION
    assert not list(folder.glob("*.damaged-*"))
    assert bench.scheduler.status().problems == []
    ended = {view.id: view for view in bench.scheduler.jobs(JobQuery()).jobs}
    assert {key: view.state for key, view in ended.items()} == {"app0001-etl": "failed", "app0001-fit-1": "finished"}
    fit = bench.scheduler.job("app0001-fit-1")
    assert [point.loss for point in fit.losses] == [1.0 / (number + 1) for number in range(12)]
    assert [point.cores for point in fit.cores] == pytest.approx([1.0, 1.98, 1.0])
    assert (fit.job.user, fit.job.name, fit.job.estimator) == ("alice", "LogReg_1", "LogisticRegression")
    assert (fit.job.core_s, fit.job.reports, fit.job.ended_at) == (11.98, 12, 1000000112.0)
    assert (fit.explanation.rule, fit.explanation.epoch) == ("floor", 12)
    assert fit.explanation.sentence == fit.job.reason
    assert fit.prediction.judged == 9
    assert fit.prediction.standing is None, "0.1.0 knew of no standing"
    assert bench.scheduler.job("app0001-etl").prediction is None


def test_living_jobs_go_on(bench):
    assert bench.scheduler.archive.restarted
    answer = bench.beat(again("fit-2", 2.0, first=12), app="app0001", user="alice")
    assert answer.resend == {"fit-2": 12}
    bench.beat(job("fit-2", 2.0, first=12, name="KMeans_1", weight=2.0, max_cores=3.0), app="app0001", user="alice")
    bench.beat(job("slow", 7.5, first=3), app="app0002", user="bob")
    bench.epoch()
    fit = bench.scheduler.job("app0001-fit-2")
    assert (fit.job.first_loss, fit.job.loss, fit.job.reports, fit.job.weight) == (40.0, 2.0, 13, 5.0)
    assert len(fit.losses) == 13
    assert fit.job.core_s == pytest.approx(29.013333333333332)
    slow = bench.scheduler.job("app0002-slow")
    assert (slow.job.state, slow.job.loss, slow.job.reports) == ("held", 7.5, 4)
    history = bench.scheduler.recorder.state.jobs["app0001-fit-2"].history
    assert history.losses[:3] == (40.0, pytest.approx(32.0), pytest.approx(25.6))
    # 0.1.0 reported 0.5 s, 0.9 core-seconds and 1.8 cores: all of it was work.
    assert history.costs[:-2] == pytest.approx((0.9, 0.0) * 7)
    assert math.isnan(history.costs[-1])


def test_living_jobs_that_do_not_come_back_are_lost_and_another_user_cannot_take_them(bench):
    answer = bench.beat(job("slow", 1.0), app="app0002", user="mallory")
    assert "another user" in answer.notice
    bench.epoch(1.0)
    bench.epoch(5.0)
    bench.scheduler.archive.close()
    assert bench.scheduler.job("app0002-slow").job.state == "lost"
    assert bench.scheduler.job("app0002-slow").job.user == "bob"


def test_the_incarnation_rises_further(bench):
    assert bench.scheduler.archive.incarnation > OLD_INCARNATION


def test_a_migration_that_fails_changes_nothing(folder, monkeypatch):
    def broken(_):
        raise sqlite3.OperationalError("database or disk is full")

    before = sqlite3.connect(folder / "history.db").execute("SELECT * FROM jobs ORDER BY id").fetchall()
    with monkeypatch.context() as patched:
        patched.setattr("slaq.scheduler.store.migrations._from_1", broken)
        with pytest.raises(sqlite3.OperationalError):
            Database(folder / "history.db")
    assert version(folder / "history.db") == 1
    assert sqlite3.connect(folder / "history.db").execute("SELECT * FROM jobs ORDER BY id").fetchall() == before
    Database(folder / "history.db").close()
    assert version(folder / "history.db") == VERSION


def test_a_row_that_cannot_be_read_is_set_aside_and_the_others_go_on(folder, caplog):
    with sqlite3.connect(folder / "history.db") as connection:
        connection.execute("UPDATE jobs SET body = x'c1' WHERE id = 'app0001-etl'")
    connection.close()
    database = Database(folder / "history.db")
    assert database.load("app0001-etl") is None
    assert database.load("app0001-fit-1") is not None
    database.close()
    assert "app0001-etl" in caplog.text
    connection = sqlite3.connect(folder / "history.db")
    assert connection.execute("SELECT id FROM jobs_1").fetchall() == [("app0001-etl",)]
    connection.close()

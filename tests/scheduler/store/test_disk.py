"""The archive on disk: what survives, and what goes on when the disk does not."""

import os
import re
import sqlite3
import threading
import time

import pytest

import slaq
from slaq.config import RetentionConfig
from slaq.errors import SlaqError
from slaq.protocol import Change
from slaq.scheduler.query import JobQuery
from slaq.scheduler.refusal import OverError
from slaq.scheduler.store.database import Database
from slaq.scheduler.store.disk import DiskArchive
from slaq.scheduler.store.files import new_private
from slaq.scheduler.store.known import KnownJobs
from tests.scheduler.support import Bench, again, job, until

KEY = "app0001-1"


@pytest.fixture
def opened(tmp_path):
    """Archives in one folder; opening the next one crashes the previous."""
    archives = []

    def crash():
        for archive in archives:
            archive._lock_file.close()  # all that a dead process lets go of

    def open_next(**retention):
        crash()
        archives.append(DiskArchive(tmp_path, RetentionConfig(**retention)))
        return archives[-1]

    yield open_next
    crash()


def bench_on(archive) -> Bench:
    return Bench(archive=archive, incarnation=archive.incarnation)


def settle(archive) -> None:
    ticket = archive.ticket()
    until(lambda: archive.is_saved(ticket))


def test_a_finished_job_is_called_saved_only_when_it_is_on_disk(opened):
    archive = opened()
    bench = bench_on(archive)
    bench.beat(job("1", 2.0, 1.0, name="fit"))
    answer = bench.beat(again("1", 0.5, first=2, ended="finished"))
    assert answer.saved == []
    settle(archive)
    assert bench.beat(again("1", ended="finished")).saved == ["1"]
    detail = bench_on(opened()).scheduler.job(KEY)
    assert (detail.job.state, detail.job.name, detail.job.loss) == ("finished", "fit", 0.5)
    assert [point.loss for point in detail.losses] == [2.0, 1.0, 0.5]


def test_what_waits_for_the_disk_can_be_read(opened):
    bench = bench_on(opened())
    bench.beat(job("1", 2.0, ended="finished"))
    assert bench.scheduler.job(KEY).job.state == "finished"
    assert bench.scheduler.jobs(JobQuery()).total == 1
    settle(bench.scheduler.archive)
    assert bench.scheduler.jobs(JobQuery()).total == 1


def test_a_living_job_goes_on_after_a_crash_with_history_weight_and_curve(opened):
    archive = opened()
    assert not archive.restarted
    bench = bench_on(archive)
    bench.beat(job("1", 4.0, 3.0, 2.0))
    bench.scheduler.change(KEY, Change(weight=5.0, held=True))
    settle(archive)
    archive = opened()
    assert archive.restarted
    bench = bench_on(archive)
    answer = bench.beat(again("1", 1.0, first=3))
    assert answer.resend == {"1": 3}
    bench.beat(job("1", 1.0, first=3))
    bench.epoch()
    view = bench.scheduler.job(KEY).job
    assert (view.state, view.weight, view.first_loss, view.loss, view.reports) == ("held", 5.0, 4.0, 1.0, 4)
    assert bench.scheduler.recorder.state.jobs[KEY].history.losses == (4.0, 3.0, 2.0, 1.0)
    assert len(bench.scheduler.job(KEY).losses) == 4


def test_a_job_that_does_not_come_back_is_lost_after_a_lease(opened):
    archive = opened()
    bench_on(archive).beat(job("1", 4.0))
    settle(archive)
    archive = opened()
    bench = bench_on(archive)
    bench.epoch(1.0)
    bench.epoch(5.0)
    until(lambda: bench.scheduler.jobs(JobQuery(states=("lost",))).total == 1)
    assert bench.scheduler.job(KEY).job.state == "lost"


def test_every_start_has_a_larger_number(opened):
    numbers = [opened().incarnation for _ in range(4)]
    assert numbers == sorted(set(numbers))


def test_the_number_rises_though_the_clock_went_back(opened, monkeypatch):
    first = opened().incarnation
    monkeypatch.setattr(time, "time", lambda: 1e9)
    assert opened().incarnation == first + 1


def test_a_folder_has_one_scheduler(opened, tmp_path):
    opened()
    with pytest.raises(SlaqError, match="another scheduler uses"):
        DiskArchive(tmp_path, RetentionConfig())


def test_only_its_owner_can_read_the_state(opened, tmp_path):
    tmp_path.chmod(0o755)
    (tmp_path / "history.db").touch(0o644)
    archive = opened()
    bench = bench_on(archive)
    bench.beat(job("1", 1.0))
    bench.epoch()
    settle(archive)
    until(lambda: len(list(tmp_path.glob("decisions-*.log"))) == 1)
    files = [file for file in tmp_path.iterdir() if file.name != "lock"]
    assert {file.name: file.stat().st_mode & 0o077 for file in files} == dict.fromkeys((f.name for f in files), 0)


def test_a_folder_that_others_may_write_to_is_refused(opened, tmp_path):
    tmp_path.chmod(0o777)
    with pytest.raises(SlaqError, match=rf"everyone may write to {tmp_path}; run: chmod o-w"):
        opened()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_refused(opened, tmp_path):
    os.chown(tmp_path, 12345, 12345)
    with pytest.raises(SlaqError, match="belongs to user 12345"):
        opened()


def test_a_link_in_the_place_of_a_log_is_not_followed(tmp_path):
    (tmp_path / "theirs").write_text("precious")
    (tmp_path / "log").symlink_to(tmp_path / "theirs")
    with pytest.raises(OSError, match="symbolic link"):
        new_private(tmp_path / "log")
    assert (tmp_path / "theirs").read_text() == "precious"


def test_a_user_without_a_name_sees_their_own_jobs_only(opened):
    archive = opened()
    bench = bench_on(archive)
    bench.beat(job("1", 1.0, ended="finished"), user="alice")
    bench.beat(job("1", 1.0, ended="finished"), app="app0002", user="")
    settle(archive)
    assert [view.user for view in bench.scheduler.jobs(JobQuery(user="")).jobs] == [""]


def test_old_jobs_are_let_go(opened):
    archive = opened(age_d=1.0)
    bench = bench_on(archive)
    bench.scheduler._wall = lambda: time.time() - 3 * 86_400
    bench.beat(job("old", 1.0, ended="finished"))
    bench.scheduler._wall = time.time
    bench.beat(job("new", 1.0, ended="finished"), job("living", 1.0))
    settle(archive)
    archive._retain()
    assert archive.load("app0001-old") is None
    assert archive.load("app0001-new") is not None
    assert archive.load("app0001-living") is not None


def test_the_database_stays_within_its_size_and_the_newest_stay(opened, tmp_path):
    archive = opened(size_mb=1.0, age_d=36_500.0)
    bench = bench_on(archive)
    losses = [float(i) for i in range(250)]
    for number in range(400):
        bench.now += 1.0
        bench.beat(job(str(number), *losses, ended="finished"))
    settle(archive)
    archive._retain()
    assert (tmp_path / "history.db").stat().st_size < 1.3e6
    assert archive.load("app0001-399") is not None
    assert archive.load("app0001-0") is None


@pytest.mark.parametrize("content", [b"this is not a database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_damaged_database_is_moved_aside(opened, tmp_path, content):
    (tmp_path / "history.db").write_bytes(content)
    archive = opened()
    assert "moved to" in archive.problems()[0]
    (aside,) = tmp_path.glob("history.db.damaged-*")
    assert aside.read_bytes() == content
    bench = bench_on(archive)
    bench.beat(job("1", 1.0, ended="finished"))
    settle(archive)
    assert archive.load(KEY) is not None


def test_damage_that_shows_only_when_it_is_read_is_found_at_the_start(opened, tmp_path):
    archive = opened()
    bench_on(archive).beat(job("1", 1.0))
    settle(archive)
    archive._history._writing._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    with sqlite3.connect(tmp_path / "history.db") as connection:
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        pages = connection.execute("SELECT rootpage FROM sqlite_master WHERE tbl_name = 'jobs'").fetchall()
    connection.close()
    with (tmp_path / "history.db").open("r+b") as content:
        for (page,) in pages:
            content.seek((page - 1) * size)
            content.write(b"\xff" * size)
    archive = opened()
    assert "moved to" in archive.problems()[0]
    assert not archive.restarted


@pytest.mark.parametrize("damage", ["body = x'c1c1ff00'", "name = CAST(x'fffe41' AS TEXT)"])
def test_damage_to_a_single_row_harms_no_other(opened, tmp_path, damage):
    archive = opened()
    bench_on(archive).beat(job("1", 4.0, 3.0), job("2", 4.0, 3.0))
    settle(archive)
    with sqlite3.connect(tmp_path / "history.db") as connection:
        connection.execute(f"UPDATE jobs SET {damage} WHERE id = ?", (KEY,))
    connection.close()
    archive = opened()
    assert archive.restarted
    assert archive.known("app0001-2") is not None
    bench = bench_on(archive)
    bench.beat(job("1", 4.0, 3.0, 2.0, ended="finished"))
    settle(archive)
    assert bench_on(opened()).scheduler.job(KEY).job.reports == 3


def test_a_database_of_a_newer_version_is_refused_and_left_alone(opened, tmp_path):
    file = tmp_path / "history.db"
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = file.read_bytes()
    with pytest.raises(SlaqError, match=rf"format 99; SLAQ {re.escape(slaq.__version__)} reads formats up to 2"):
        opened()
    assert file.read_bytes() == before
    assert not list(tmp_path.glob("history.db.damaged-*"))
    with pytest.raises(SlaqError, match="format 99"):  # and not "another scheduler uses": the folder was let go
        opened()


def test_a_database_that_breaks_in_use_is_replaced(opened, tmp_path):
    archive = opened()
    bench = bench_on(archive)
    bench.beat(*(job(str(i), *[1.0] * 200, ended="finished") for i in range(50)))
    settle(archive)
    spoil(archive, tmp_path)
    archive.load("app0001-unknown")
    until(lambda: any("moved to" in problem for problem in archive.problems()))
    bench.beat(job("after", 1.0, ended="finished"))
    settle(archive)
    assert archive.load("app0001-after") is not None


def spoil(archive, folder) -> None:
    """Write over every page of the database in use."""
    archive._history._writing._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    file = folder / "history.db"
    with file.open("r+b") as content:
        content.write(b"\xff" * file.stat().st_size)


def test_jobs_that_were_called_saved_outlive_damage_that_shows_late(opened, tmp_path):
    archive = opened()
    bench = bench_on(archive)
    bench.beat(*(job(str(i), *[1.0] * 200, ended="finished") for i in range(50)), job("alive", 1.0))
    settle(archive)
    spoil(archive, tmp_path)
    archive.load("app0001-unknown")
    until(lambda: archive.load("app0001-0") is not None)
    bench.beat(again("alive", ended="finished"))
    settle(archive)
    archive = opened()
    assert archive.counts() == {"finished": 51}


def test_a_new_database_is_not_taken_for_the_damaged_one(opened, tmp_path):
    """Readers may have found the damage before it was replaced, and be heard of after that."""
    archive = opened()
    bench_on(archive).beat(job("1", 1.0, ended="finished"))
    settle(archive)
    spoil(archive, tmp_path)
    archive.load("app0001-unknown")
    until(lambda: archive.load(KEY) is not None)
    before = (tmp_path / "history.db").stat().st_ino
    healed = threading.Event()
    archive._later("history", archive._history.heal)
    archive._later("history", healed.set)
    assert healed.wait(20.0)
    assert (tmp_path / "history.db").stat().st_ino == before


def test_a_database_that_is_damaged_before_it_could_be_opened_is_replaced(opened, tmp_path, monkeypatch):
    with monkeypatch.context() as disk:
        disk.setattr(Database, "_prepare", full)
        archive = opened()
        (tmp_path / "history.db").write_bytes(b"this is not a database at all" * 100)
    bench_on(archive).beat(job("1", 1.0, ended="finished"))
    settle(archive)
    assert archive.load(KEY) is not None


def test_few_ended_jobs_are_kept_to_be_written_again(opened, monkeypatch):
    monkeypatch.setattr("slaq.scheduler.store.history_file.MOST_AGAIN", 20)
    archive = opened()
    bench = bench_on(archive)
    for number in range(40):
        bench.beat(job(str(number), 1.0, ended="finished"))
    settle(archive)
    assert list(archive._history._ended) == [f"app0001-{number}" for number in range(20, 40)]


def test_jobs_are_saved_though_the_database_was_deleted_in_use(opened, tmp_path):
    """SQLite would go on writing to the deleted file, and nothing of it would be there after a restart."""
    archive = opened()
    bench = bench_on(archive)
    bench.beat(job("before", 1.0, ended="finished"))
    settle(archive)
    for file in tmp_path.glob("history.db*"):
        file.unlink()
    bench.beat(job("after", 1.0, ended="finished"), job("alive", 1.0))
    settle(archive)
    assert bench.beat(again("after", ended="finished")).saved == ["after"]
    assert any("was deleted or replaced" in problem for problem in archive.problems())
    assert archive.load("app0001-after") is not None
    archive = opened()
    assert archive.load("app0001-after") is not None
    assert archive.load("app0001-alive") is not None
    assert archive.load("app0001-before") is not None, "the latest jobs are written again"


def full(*_):
    raise sqlite3.OperationalError("database or disk is full")


def test_a_disk_that_takes_nothing_is_logged_once_and_caught_up_with(opened, monkeypatch, caplog):
    archive = opened()
    bench = bench_on(archive)
    tries = []
    monkeypatch.setattr("slaq.scheduler.store.disk.RETRY_S", 0.02)
    with monkeypatch.context() as broken:
        broken.setattr(archive._history, "write", lambda rows: (tries.append(rows), full()))
        bench.beat(job("1", 1.0, ended="finished"))
        until(lambda: archive.problems())
        assert bench.beat(again("1", ended="finished")).saved == []
        bench.beat(job("2", 1.0))
        bench.epoch()
        assert bench.grants(jobs=("2",)) == {"2": 8.0}
        until(lambda: len(tries) > 3)
    settle(archive)
    assert archive.problems() == []
    assert bench.beat(again("1", ended="finished")).saved == ["1"]
    assert sum("cannot write" in record.message for record in caplog.records) == 1


def test_memory_is_bounded_while_the_disk_takes_nothing(opened, monkeypatch):
    monkeypatch.setattr("slaq.scheduler.store.disk.MOST_WAITING", 20)
    archive = opened()
    monkeypatch.setattr(archive._history, "write", full)
    bench = bench_on(archive)
    for number in range(100):
        bench.beat(job(str(number), 1.0, ended="finished"))
        bench.now += 1.0
        bench.scheduler.decide()
    assert len(archive._rows) <= 20
    assert any("jobs were not saved" in problem for problem in archive.problems())


def test_jobs_that_did_not_come_back_are_lost_though_the_disk_failed_at_first(opened, monkeypatch):
    archive = opened()
    bench_on(archive).beat(job("1", 4.0), job("2", 4.0))
    settle(archive)
    monkeypatch.setattr("slaq.scheduler.store.disk.RETRY_S", 0.02)
    archive = opened()
    bench = bench_on(archive)
    tries = []
    with monkeypatch.context() as broken:
        broken.setattr(archive._history, "lose_others", lambda: (tries.append(1), full()))
        bench.beat(job("2", 4.0))
        bench.epoch(1.0)
        bench.beat(again("2"))
        bench.epoch(5.0)
        until(lambda: len(tries) > 1)
    until(lambda: bench.scheduler.jobs(JobQuery(states=("lost",))).total == 1)
    assert bench.scheduler.job(KEY).job.state == "lost"
    assert bench.scheduler.job("app0001-2").job.state == "running"


def test_a_job_never_takes_the_place_of_another_users(opened, caplog):
    archive = opened()
    bench_on(archive).beat(job("1", 4.0, ended="finished"), user="alice")
    settle(archive)
    archive._known = KnownJobs(0, 0)  # as if it had ended so long ago that nobody remembers
    bench_on(archive).beat(job("1", 9.0, ended="finished"), user="mallory")
    settle(archive)
    kept = archive.load(KEY)
    assert (kept.summary.user, kept.summary.loss) == ("alice", 4.0)
    assert "belong to jobs of other users" in caplog.text


class Slow:
    """Makes every reader of the history wait until it is released."""

    def __init__(self, monkeypatch) -> None:
        self.inside, self.release = threading.Event(), threading.Event()
        for name in ("load", "select", "counts"):
            monkeypatch.setattr(Database, name, self._slow(getattr(Database, name)))

    def _slow(self, ask):
        def wait(*arguments):
            self.inside.set()
            assert self.release.wait(20.0)
            return ask(*arguments)

        return wait


def refused(scheduler) -> None:
    with pytest.raises(OverError):
        scheduler.change(KEY, Change(held=True))


@pytest.mark.parametrize(
    "ask",
    [
        lambda scheduler: scheduler.jobs(JobQuery()),
        lambda scheduler: scheduler.job(KEY),
        lambda scheduler: scheduler.status(),
        lambda scheduler: refused(scheduler),
    ],
    ids=["jobs", "job", "status", "change"],
)
def test_a_slow_reader_delays_neither_beats_nor_joins_nor_decisions(opened, monkeypatch, ask):
    archive = opened()
    bench = bench_on(archive)
    bench.beat(job("1", 4.0, ended="finished"))
    settle(archive)
    slow = Slow(monkeypatch)
    reader = threading.Thread(target=ask, args=(bench.scheduler,), daemon=True)
    reader.start()
    assert slow.inside.wait(20.0)
    began_s = time.process_time()
    bench.beat(job("2", 2.0), job("3", 1.0, ended="finished"))
    bench.beat(again("1", ended="finished"), again("2", 1.0, first=1))
    bench.epoch()
    assert bench.grants(jobs=("2",)) == {"2": 8.0}
    assert reader.is_alive(), "all of that happened while the reader was waiting for the disk"
    assert time.process_time() - began_s < 0.05
    slow.release.set()
    reader.join(20.0)
    assert not reader.is_alive()

"""What a scheduler learns from the fits that end, and expects of those that begin."""

import io
import logging

import pytest
from msgspec.msgpack import encode
from msgspec.structs import replace

from slaq.config import RetentionConfig
from slaq.engine.log import Epoch, epoch_piece, first_pieces, read, replayed
from slaq.protocol import Declaration, Ended, JobBeat, Report
from slaq.records import Traits
from slaq.scheduler.embedded import Embedded
from slaq.scheduler.rows import past_fit_of
from slaq.scheduler.store import MemoryArchive
from slaq.scheduler.store.disk import DiskArchive
from slaq.scheduler.store.fits_file import FitsFile
from tests.scheduler.support import APP, Bench, make_config, until

DATA = Traits({"k": 8.0}, partitions=4.0, bytes=1e6)
SETUP = Declaration(estimator="KMeans", max_iterations=20, traits=DATA)


def run(bench: Bench, job_id: str, setup: Declaration = SETUP, outcome: str = "finished") -> None:
    """A fit that prepares for 3 core-seconds and makes 21 iterations of half a core-second each."""
    bench.beat(JobBeat(job_id, setup, held_core_s=1.0))
    bench.epoch()
    bench.beat(JobBeat(job_id, None, 0, [Report(1.0, 0)], held_core_s=3.0))
    reports = [Report(0.7**k, k, 0.5, 0.1) for k in range(1, 21)]
    bench.beat(JobBeat(job_id, None, 1, reports, held_core_s=13.0))
    bench.beat(JobBeat(job_id, None, 21, [], Ended(outcome), held_core_s=13.0))
    bench.epoch()


def expected(bench: Bench, job_id: str = "new", setup: Declaration = SETUP):
    bench.beat(JobBeat(job_id, setup))
    bench.epoch(0.1)
    return bench.scheduler.recorder.state.jobs[f"{APP}-{job_id}"].expected.expected


def test_a_fit_that_is_repeated_joins_with_what_the_first_one_took():
    bench = Bench()
    run(bench, "first")
    found = expected(bench)
    assert (found.ready_core_s, found.work_core_s, found.serial_s) == pytest.approx((3.0, 0.5, 0.1))
    assert (found.at_90, found.at_95, found.at_end) == pytest.approx((7.0, 9.0, 20.0))
    assert min(found.ready_sure, found.work_sure, found.length_sure) >= 0.8


def test_a_driver_that_tells_more_of_its_fit_is_told_more_surely():
    bench = Bench()
    run(bench, "first")
    run(bench, "large", replace(SETUP, traits=replace(DATA, bytes=1e9)))
    vague = expected(bench, setup=replace(SETUP, traits=Traits({"k": 2.0})))
    exact = expected(bench)
    assert exact.length_sure > vague.length_sure


def test_switched_off_nothing_is_expected_and_nothing_kept():
    bench = Bench(make_config(archive="off"))
    run(bench, "first")
    assert expected(bench).work_sure == 0.0
    assert bench.scheduler.archive.load(f"{APP}-first").body.past is None


def test_of_a_fit_that_was_cancelled_only_the_costs_count():
    bench = Bench()
    run(bench, "first", outcome="cancelled")
    found = expected(bench)
    assert found.work_core_s == pytest.approx(0.5)
    assert found.length_sure == 0.0


def test_a_job_that_does_not_tell_what_it_held_teaches_nothing():
    bench = Bench()
    bench.beat(JobBeat("1", SETUP, 0, [Report(1.0), Report(0.5)], Ended()))
    bench.epoch()
    assert len(bench.scheduler.experience.fits) == 0


def test_what_the_tasks_left_will_hold_reaches_the_engine():
    bench = Bench()
    bench.beat(JobBeat("1", SETUP, held_core_s=1.0, due_core_s=2.5))
    bench.epoch(0.1)
    assert bench.scheduler.recorder.state.jobs[f"{APP}-1"].due_core_s == 2.5
    bench.beat(JobBeat("1", None, held_core_s=2.0))
    bench.epoch(0.1)
    assert bench.scheduler.recorder.state.jobs[f"{APP}-1"].due_core_s == 0.0


def test_a_scheduler_that_starts_again_knows_what_its_history_holds(tmp_path):
    archive = DiskArchive(tmp_path, RetentionConfig())
    run(Bench(archive=archive), "first")
    archive.close()
    again = DiskArchive(tmp_path, RetentionConfig())
    later = Bench()
    later.scheduler.remember(map(past_fit_of, again.past_fits(100)))
    again.close()
    assert expected(later).work_core_s == pytest.approx(0.5)


class Logging(MemoryArchive):
    """An archive that keeps the decision log in memory."""

    def begin_log(self, state):
        self.log_bytes = first_pieces(state)

    def log(self, events, effects, state):
        del state
        self.log_bytes += epoch_piece(Epoch(events, effects))


def test_decisions_that_rest_on_expectations_replay_exactly():
    archive = Logging()
    bench = Bench(make_config(capacity=2, policy="finish-line"), archive)
    run(bench, "first")
    for number in range(3):
        bench.beat(
            JobBeat(f"next-{number}", replace(SETUP, max_iterations=5 * number + 1), due_core_s=1.0, held_core_s=0.5)
        )
        bench.epoch()
    steps = list(replayed(*read(io.BytesIO(archive.log_bytes), "a log")))
    assert [decided for _, _, decided in steps] == [list(epoch.effects) for epoch, _, _ in steps]
    jobs = bench.scheduler.recorder.state.jobs
    assert encode(steps[-1][1].jobs) == encode(jobs)  # as bytes: the loss of a job that has none is NaN
    assert all(job.expected.expected.work_sure > 0.5 for job in jobs.values())


def fit_in(embedded: Embedded) -> None:
    bench = Bench.__new__(Bench)
    bench.now, bench.seq, bench.scheduler = 0.0, 0, embedded.scheduler
    run(bench, "first")


def test_a_scheduler_inside_a_driver_keeps_its_fits_in_a_file_for_the_next(tmp_path):
    file = tmp_path / "slaq" / "fits.jsonl"
    config = make_config(archive=str(file))
    first = Embedded(config)
    fit_in(first)
    first.close()
    assert [fit.work_core_s for fit in FitsFile(file).read()] == pytest.approx([0.5])
    second = Embedded(config)
    until(lambda: len(second.scheduler.experience.fits) == 1)
    second.close()


def test_a_damaged_file_is_told_once_and_replaced(tmp_path, caplog):
    file = tmp_path / "fits.jsonl"
    file.write_bytes(b"garbage")
    with caplog.at_level(logging.WARNING):
        embedded = Embedded(make_config(archive=str(file)))
        fit_in(embedded)
        embedded.close()
    assert len(FitsFile(file).read()) == 1
    assert caplog.text.count("could not be used") == 1


def test_a_file_that_cannot_be_written_costs_nothing_but_a_warning(tmp_path, caplog):
    (tmp_path / "folder").write_text("no folder")
    with caplog.at_level(logging.WARNING):
        embedded = Embedded(make_config(archive=str(tmp_path / "folder" / "fits.jsonl")))
        fit_in(embedded)
        fit_in(embedded)
        embedded.close()
    assert caplog.text.count("training goes on without") == 1
    assert len(embedded.scheduler.experience.fits) == 1


def test_usually_the_file_is_in_the_cache_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    embedded = Embedded(make_config())
    fit_in(embedded)
    embedded.close()
    assert (tmp_path / "slaq" / "fits.jsonl").exists()

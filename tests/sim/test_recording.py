"""Recordings: a decision log can be simulated again."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from slaq.cli import root
from slaq.engine import EpochEnded, JobJoined, JobMoved, JobReported, State, run
from slaq.engine.log import Epoch, epoch_piece, first_pieces
from slaq.errors import SlaqError
from slaq.model import Job, Report
from slaq.sim import recording
from slaq.sim.compare import Comparison, compare, record_one
from slaq.sim.curves import recorded
from slaq.sim.workload import Setting, draw

SETTING = Setting(jobs=8, cores=64, gap_s=6.0, work_core_s=20.0, iterations=20, others=0.2)


@pytest.fixture(scope="module")
def made():
    return record_one(Comparison(("fair",), SETTING, tuple(recorded())), "fair", 4)


def test_a_recording_survives_being_written_and_read(made, tmp_path):
    recording.write(tmp_path / "run", made)
    again = recording.read(tmp_path / "run")
    assert again.state == made.state
    assert [len(epoch.events) for epoch in again.epochs] == [len(epoch.events) for epoch in made.epochs]
    before, after = recording.workload_of(made), recording.workload_of(again)
    np.testing.assert_array_equal(before.losses, after.losses)


def test_the_workload_behind_a_recording_is_the_one_that_was_simulated(made):
    drawn, found = draw(SETTING, recorded(), 4), recording.workload_of(made)
    assert found.names == drawn.names
    np.testing.assert_array_equal(found.ml, drawn.ml)
    for i in np.flatnonzero(drawn.ml):
        steps = drawn.length[i]
        assert found.length[i] == steps
        np.testing.assert_array_equal(found.losses[i, : steps + 1], drawn.losses[i, : steps + 1])
        assert found.work_core_s[i] == pytest.approx(drawn.work_core_s[i])


def test_a_recorded_simulation_replays_to_the_identical_decisions(made):
    state = made.state
    for epoch in made.epochs[:-1]:
        state, effects = run(state, epoch.events)
        assert effects == list(epoch.effects)


def test_a_job_of_many_iterations_is_recorded_whole():
    reports = tuple(Report(1.0 / (k + 1), k, 4.0, 0.0) for k in range(600))
    joined, reported = [JobJoined(0.0, Job("a")), EpochEnded(0.0)], [JobReported(6.0, "a", reports), EpochEnded(6.0)]
    found = recording.Recording(State(cores=4), [Epoch(joined, ()), Epoch(reported, ())])
    assert recording.workload_of(found).length.tolist() == [599]


def test_half_the_cores_and_another_policy_can_be_tried_on_it(made):
    workload = recording.workload_of(made)

    def completion(cores: int) -> float:
        setting = Setting(jobs=len(workload), cores=cores)
        (facts,) = compare(Comparison(("max-total",), setting, replayed=workload))
        return facts["completion_s"]

    assert completion(32) > completion(64)


def test_a_scheduler_s_decision_log_is_a_recording(tmp_path):
    state = State(cores=4)
    pieces = first_pieces(state)
    reports = tuple(Report(1.0 / (k + 1), k, 4.0, 0.0) for k in range(6))
    batches = [
        [JobJoined(0.0, Job("a", max_cores=4.0)), EpochEnded(0.0)],
        [JobReported(6.0, "a", reports), EpochEnded(6.0)],
        [JobMoved(7.0, "a", "finish"), EpochEnded(7.0)],
    ]
    for events in batches:
        state, effects = run(state, events)
        pieces += epoch_piece(Epoch(events, effects))
    (tmp_path / "decisions-1-000001.log").write_bytes(b"of an earlier life")
    (tmp_path / "decisions-2-000001.log").write_bytes(pieces)
    found = recording.read(tmp_path)
    assert len(found.epochs) == 3
    workload = recording.workload_of(found)
    assert workload.names == ("a",)
    assert workload.length.tolist() == [5]
    assert workload.work_core_s.tolist() == [4.0]


def test_a_replayed_job_has_the_user_the_group_and_the_estimator_it_declared():
    job = Job("a", user="ann", group="search", estimator="KMeans", max_iterations=9)
    reports = tuple(Report(1.0 / (k + 1), k, 4.0, 0.5) for k in range(6))
    epochs = [Epoch([JobJoined(0.0, job), JobReported(3.0, "a", reports), EpochEnded(3.0)], ())]
    workload = recording.workload_of(recording.Recording(State(cores=4), epochs))
    assert workload.declared == (job,)
    assert workload.serial_s.tolist() == [0.5]


def test_a_job_that_was_there_before_the_log_began_starts_anew():
    began, _ = run(State(cores=4), [JobJoined(0.0, Job("a")), JobReported(1.0, "a", (Report(9.0, 0),))])
    reports = tuple(Report(1.0 / k, k, 4.0, 0.0) for k in range(1, 5))
    found = recording.Recording(began, [Epoch([JobReported(3.0, "a", reports), EpochEnded(3.0)], ())])
    (job,) = recording.workload_of(found).declared
    assert len(job.history) == 0


OLD = Path(__file__).parents[1] / "scheduler" / "written_by_0_1_0" / "decisions.log"


@pytest.mark.parametrize(
    "arguments", [["simulate", "--replay", str(OLD)], ["trace", "record", str(OLD), "--out", "copy"]]
)
def test_a_log_of_an_earlier_version_is_refused_with_that_version(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SlaqError, match=r"decisions\.log was written by SLAQ 0\.1\.0 in format 1; .* replays format 2"):
        CliRunner().invoke(root, arguments, catch_exceptions=False)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_recording_is_refused_by_name(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(SlaqError, match=r"notes.txt is not a decision log"):
        recording.read(tmp_path / "notes.txt")
    with pytest.raises(SlaqError, match="no decision log in"):
        recording.read(tmp_path)
    with pytest.raises(SlaqError, match="nothing to replay"):
        recording.workload_of(recording.Recording(State(cores=1), []))

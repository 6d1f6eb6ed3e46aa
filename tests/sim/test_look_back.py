"""Questions about the past: what a decision log says of a time, and what another policy would have made of its jobs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from slaq.engine import Allocated, EpochEnded, JobJoined, JobMoved, JobReported, State, run
from slaq.engine.log import Epoch, epoch_piece, first_pieces
from slaq.errors import SlaqError
from slaq.model import Job, Report
from slaq.protocol.past import PastQuestion
from slaq.sim.compare import Comparison, record_one
from slaq.sim.courses import courses
from slaq.sim.curves import recorded
from slaq.sim.look_back import past, what_if
from slaq.sim.past_log import PastLog
from slaq.sim.what_if import play
from slaq.sim.workload import Setting

SETTING = Setting(jobs=12, cores=32, gap_s=6.0, work_core_s=20.0, iterations=20, others=0.2)
EVER = (0.0, 1e12)
OLD = Path(__file__).parents[1] / "scheduler" / "written_by_0_1_0" / "decisions.log"


@pytest.fixture(scope="module")
def made():
    return record_one(Comparison(("fair",), SETTING, tuple(recorded())), "fair", 4)


@pytest.fixture(scope="module")
def folder(made, tmp_path_factory):
    """The log of one life in two files, as a scheduler writes them, the last decision at 2,000,000 by the clock."""
    folder = tmp_path_factory.mktemp("state")
    middle = len(made.epochs) // 2
    state = made.state
    for part, epochs in ((1, made.epochs[:middle]), (2, made.epochs[middle:-1])):
        pieces = first_pieces(state)
        for epoch in epochs:
            pieces += epoch_piece(epoch)
            state, _ = run(state, epoch.events)
        file = folder / f"decisions-7-{part:06}.log"
        file.write_bytes(pieces)
        written_at = 2e6 + epochs[-1].events[-1].now_s - made.epochs[-2].events[-1].now_s
        os.utime(file, (written_at, written_at))
    return folder


def ask(folder: Path, from_at: float, until_at: float, **more) -> PastQuestion:
    return PastQuestion(str(folder), from_at, until_at, **more)


def test_the_decisions_of_a_time_are_those_that_were_made(made, folder):
    found = past(ask(folder, *EVER))
    assert found.ends_at == pytest.approx(2e6)
    assert found.begins_at == pytest.approx(2e6 - made.epochs[-2].events[-1].now_s + made.epochs[0].events[-1].now_s)
    assert [sample.at for sample in found.samples] == sorted(sample.at for sample in found.samples)
    decided = [
        {key: round(cores, 3) for key, cores in effect.decision.cores.items() if cores}
        for epoch in made.epochs[:-1]
        for effect in epoch.effects
        if isinstance(effect, Allocated)
    ]
    shown = [{held.id: held.cores for held in sample.cores} for sample in found.samples]
    assert len(shown) <= 400
    assert [each for each in decided if each in shown] == [each for each in shown if each] or len(decided) > 400
    part = past(ask(folder, 2e6 - 60.0, 2e6 - 30.0))
    assert all(2e6 - 60.0 <= sample.at < 2e6 - 30.0 for sample in part.samples)
    assert len(part.samples) == pytest.approx(30.0 / SETTING.epoch_s, abs=1)


def test_the_jobs_of_a_minute_are_told_with_what_they_did(made, folder):
    from_at = 2e6 - 120.0
    found = past(ask(folder, from_at, from_at + 60.0, jobs=True))
    ends_s = made.epochs[-2].events[-1].now_s
    epochs = [epoch for epoch in made.epochs[:-1] if from_at <= 2e6 - ends_s + epoch.events[-1].now_s < from_at + 60.0]
    reports = {}
    for epoch in epochs:
        for event in epoch.events:
            if isinstance(event, JobReported):
                reports.setdefault(event.job_id, []).extend(report.loss for report in event.reports)
    assert {job.id: (job.iterations, job.first_loss, job.last_loss) for job in found.jobs if job.iterations} == {
        key: (len(losses), losses[0], losses[-1]) for key, losses in reports.items()
    }
    assert all(job.least_cores <= job.mean_cores <= job.most_cores for job in found.jobs)
    assert all("core" in job.reason for job in found.jobs)


def test_the_jobs_of_a_long_time_are_not_told_one_by_one(folder):
    with pytest.raises(SlaqError, match="at most; choose a shorter time"):
        past(ask(folder, 0.0, 1e6, jobs=True))


def test_the_state_in_the_middle_of_a_log_is_the_one_that_was(made, folder):
    state = made.state
    with PastLog(folder) as log:
        number = 5
        for epoch in made.epochs[:number]:
            state, _ = run(state, epoch.events)
        found = log.files[0].state_before(number)
    assert found.jobs.keys() == state.jobs.keys()
    assert [job.cores for job in found.jobs.values()] == [job.cores for job in state.jobs.values()]
    histories = [[job.history for job in each.jobs.values()] for each in (found, state)]
    assert msgspec.msgpack.encode(histories[0]) == msgspec.msgpack.encode(histories[1])


def test_replayed_under_the_policy_that_decided_jobs_fare_as_recorded(made):
    epochs = made.epochs[:-1]
    found = courses(made.state, epochs)
    played = play(made.state, epochs, found, None, lambda: None)
    counted = [(one, again) for one, again in zip(found, played.jobs, strict=True) if one.counted]
    assert len(counted) > 5
    for one, again in counted:
        assert [loss for _, loss in again.told] == [loss for _, loss in one.told]
        assert again.ended_s == pytest.approx(one.ended_s, abs=2.5 * SETTING.epoch_s)


def test_what_if_says_how_the_same_jobs_fare_under_another_policy(folder):
    found = what_if(ask(folder, *EVER, policy="finish-line"))
    assert [(row.what, row.policy) for row in found.outcomes] == [
        ("recorded", "fair"),
        ("replayed", "fair"),
        ("what-if", "finish-line"),
    ]
    was, again, other = found.outcomes
    assert again.to_90_s == pytest.approx(was.to_90_s, rel=0.1)
    assert other.to_90_s < again.to_90_s
    assert other.to_end_s < 0.9 * again.to_end_s
    assert again.quality == pytest.approx(was.quality, abs=0.05)
    assert all(len(curve) == len(found.times) for curve in found.quality)
    assert was.unfinished == 0
    assert found.counted + found.left_out == 10


def test_after_a_restart_of_the_scheduler_only_the_time_since_then_is_replayed(made, folder, tmp_path):
    for file in folder.glob("*.log"):
        shutil.copy2(file, tmp_path)
    pieces = first_pieces(made.state) + b"".join(epoch_piece(epoch) for epoch in made.epochs[:-1])
    (tmp_path / "decisions-8-000001.log").write_bytes(pieces)
    os.utime(tmp_path / "decisions-8-000001.log", (3e6, 3e6))
    assert past(ask(tmp_path, *EVER)).begins_at < 2e6
    found = what_if(ask(tmp_path, *EVER, policy="fifo"))
    assert 2e6 < found.from_at < found.until_at == pytest.approx(3e6)
    assert found.counted + found.left_out == 10


def test_files_that_cannot_be_read_are_left_out(folder, tmp_path):
    for file in folder.glob("*.log"):
        shutil.copy2(file, tmp_path)
    shutil.copy(OLD, tmp_path / "decisions-1-000001.log")
    (tmp_path / "decisions-9-000001.log").write_bytes(b"")
    (tmp_path / "decisions-9-000002.log").write_bytes(b"\0\0\0\5noise" * 3)
    assert past(ask(tmp_path, *EVER)) == past(ask(folder, *EVER))


def test_a_job_that_had_not_ended_competes_and_is_not_counted():
    reports = tuple(Report(1.0 / (k + 1), k, 4.0, 0.0) for k in range(6))
    events = [
        [JobJoined(0.0, Job("a", max_cores=4.0)), JobJoined(0.0, Job("b", max_cores=4.0)), EpochEnded(0.0)],
        [JobReported(6.0, "a", reports, 20.0), JobReported(6.0, "b", reports, 20.0), EpochEnded(6.0)],
        [JobMoved(7.0, "a", "finish"), EpochEnded(7.0)],
        [JobReported(20.0, "b", (Report(0.1, 6, 40.0, 0.0),), 60.0), EpochEnded(20.0)],
    ]
    state, epochs = State(cores=8, policy="fair", lease_s=100.0), []
    begin = state
    for each in events:
        state, effects = run(state, each)
        epochs.append(Epoch(each, effects))
    found = courses(begin, epochs)
    assert [(one.job.id, one.counted, one.ending) for one in found] == [("a", True, "finish"), ("b", False, None)]
    played = play(begin, epochs, found, "fifo", lambda: None)
    assert played.decisions[-1].cores == {"b": 4.0}, "it holds its cores to the end"


def test_jobs_of_which_none_ended_cannot_be_compared(tmp_path):
    state, effects = run(State(cores=4), [JobJoined(0.0, Job("a")), EpochEnded(0.0)])
    pieces = first_pieces(State(cores=4)) + epoch_piece(Epoch([JobJoined(0.0, Job("a")), EpochEnded(0.0)], effects))
    (tmp_path / "decisions-1-000001.log").write_bytes(pieces)
    with pytest.raises(SlaqError, match="nothing to compare"):
        what_if(ask(tmp_path, *EVER, policy="fair"))
    assert state.jobs.keys() == {"a"}


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ({"policy": "best"}, "unknown policy 'best'"),
        ({"folder": "/nowhere"}, "nothing in the decision log yet"),
        ({"from_at": 1.0, "until_at": 2.0, "policy": "fair"}, "no decision is on record in this time"),
    ],
)
def test_the_program_refuses_with_a_sentence(folder, question, sentence):
    asked = {"folder": str(folder), "from_at": 0.0, "until_at": 1e12} | question
    done = subprocess.run(
        [sys.executable, "-m", "slaq.sim.look_back"], input=msgspec.json.encode(asked), capture_output=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert sentence in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1

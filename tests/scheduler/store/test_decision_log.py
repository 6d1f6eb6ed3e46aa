"""The decision log replays to the identical decisions."""

import resource
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaq.engine import Allocated, EpochEnded, JobEnded, State
from slaq.engine.log import Epoch
from slaq.errors import SlaqError
from slaq.protocol import Change, JobBeat
from slaq.scheduler.store import MemoryArchive
from slaq.scheduler.store.decision_log import DecisionLog
from tests.scheduler.support import Bench, again, job, make_config, replay

OLD = Path(__file__).parent.parent / "written_by_0_1_0" / "decisions.log"


class Logging(MemoryArchive):
    """Writes the log at once."""

    def __init__(self, folder, size_mb=10.0):
        super().__init__()
        self.decisions = DecisionLog(folder, 7, size_mb)

    def begin_log(self, state):
        self.decisions.begin(state)

    def log(self, events, effects, state):
        self.decisions.append(Epoch(events, effects), state)


def files(folder):
    return sorted(folder.glob("decisions-*.log"))


def assert_replays(file) -> int:
    epochs = 0
    for epoch, state, effects in replay(file):
        assert list(epoch.effects) == list(effects)
        assert isinstance(epoch.events[-1], EpochEnded)
        assert state.epoch == next(effect.epoch for effect in effects if isinstance(effect, Allocated))
        epochs += 1
    return epochs


moves = st.lists(
    st.tuples(
        st.sampled_from(["report", "join", "end", "rest", "leave", "hold", "weight", "epoch", "silence", "reload"]),
        st.integers(0, 4),
    ),
    min_size=1,
    max_size=60,
)


@given(moves)
@settings(max_examples=30, deadline=None)
def test_whatever_agents_and_people_do_the_log_replays(tmp_path_factory, done):
    folder = tmp_path_factory.mktemp("log")
    bench = Bench(make_config(capacity=3), Logging(folder))
    for number, (move, which) in enumerate(done):
        key = f"app0001-{which}"
        match move:
            case "join":
                bench.beat(job(str(which), 1.0 + which, name="fit"))
            case "report":
                bench.beat(again(str(which), 1.0 / (number + 1), first=number))
            case "end":
                bench.beat(again(str(which), ended="finished"))
            case "rest":
                bench.beat(JobBeat(str(which), idle=number % 2 == 0))
            case "leave":
                bench.beat(leaving=True)
            case "hold" | "weight" if key in bench.scheduler.intake.jobs:
                bench.scheduler.change(key, Change(held=number % 2 == 0, weight=1.0 + which))
            case "reload":
                bench.scheduler.reconfigure(make_config(capacity=which, policy="max-min" if which % 2 else "fair"))
            case _:
                bench.epoch(6.0 if move == "silence" else 1.0)
        bench.now += 0.01
    bench.epoch()
    bench.scheduler.archive.decisions.close()
    assert sum(assert_replays(file) for file in files(folder)) == bench.scheduler.status().epoch


def test_an_application_that_leaves_and_another_configuration_are_in_the_log(tmp_path):
    bench = Bench(archive=Logging(tmp_path))
    bench.beat(job("1", 1.0), job("2", 1.0))
    bench.epoch()
    bench.scheduler.reconfigure(make_config(policy="fifo", epoch_s=0.5, lease_s=3.0))
    bench.beat(again("1", ended="failed"), leaving=True)
    bench.epoch()
    bench.scheduler.archive.decisions.close()
    [file] = files(tmp_path)
    assert assert_replays(file) == 2
    (_, _, _), (epoch, state, _) = replay(file)
    assert [effect.job.life.state for effect in epoch.effects if isinstance(effect, JobEnded)] == ["failed", "lost"]
    assert (state.policy, state.epoch_s, state.lease_s, state.jobs) == ("fifo", 0.5, 3.0, {})


def test_a_long_log_is_cut_at_the_old_end_and_every_part_replays_by_itself(tmp_path):
    bench = Bench(archive=Logging(tmp_path, size_mb=0.01))
    for number in range(150):
        bench.beat(*(job(str(i), 1.0 / (number + 1 + i), first=number) for i in range(5)))
        bench.epoch()
    bench.scheduler.archive.decisions.close()
    assert sum(file.stat().st_size for file in files(tmp_path)) < 0.015e6
    assert len(files(tmp_path)) >= 2
    epochs = [assert_replays(file) for file in files(tmp_path)]
    assert 0 < sum(epochs) < 150


def test_a_log_that_was_cut_off_by_a_crash_replays_up_to_there(tmp_path):
    bench = Bench(archive=Logging(tmp_path))
    bench.beat(job("1", 1.0))
    for _ in range(5):
        bench.epoch(0.5)
    bench.scheduler.archive.decisions.close()
    (file,) = files(tmp_path)
    file.write_bytes(file.read_bytes()[:-7])
    assert assert_replays(file) == 4


def test_after_a_failed_write_the_log_goes_on_in_a_new_file(tmp_path):
    log = DecisionLog(tmp_path, 7, 10.0)
    log.begin(State(cores=1))
    log._file.close()
    log._file = open("/dev/full", "wb")  # noqa: SIM115
    with pytest.raises(OSError, match="No space"):
        log.append(Epoch((EpochEnded(1.0),), ()), State(cores=1, epoch=1))
    log.append(Epoch((EpochEnded(2.0),), ()), State(cores=1, epoch=2))
    log.close()
    assert len(files(tmp_path)) == 2


def test_a_full_disk_leaves_no_files_that_cannot_be_replayed(tmp_path):
    log = DecisionLog(tmp_path, 7, 10.0)
    with limited_files(10):
        for _ in range(3):
            with pytest.raises(OSError, match="File too large"):
                log.begin(State(cores=1))
    assert files(tmp_path) == []
    log.begin(State(cores=1))
    log.close()
    assert len(files(tmp_path)) == 1


@contextmanager
def limited_files(size):
    """No file of this process grows beyond so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_log_of_an_earlier_version_is_refused_by_name():
    with pytest.raises(SlaqError, match=r"written by SLAQ 0\.1\.0 in format 1"):
        list(replay(OLD))


def test_another_kind_of_file_is_named(tmp_path):
    file = tmp_path / "decisions-1-000001.log"
    for content in (b"", b"\x00\x00\x00\x05hello", b"something else entirely"):
        file.write_bytes(content)
        with pytest.raises(SlaqError, match="is not a decision log"):
            list(replay(file))

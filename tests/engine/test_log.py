"""The decision log: what is written replays, what cannot be read is refused with a reason."""

import io
import zlib
from pathlib import Path

import msgspec
import pytest

from slaq.engine import EpochEnded, JobJoined, JobReported, State, run
from slaq.engine.log import Epoch, epoch_at, epoch_piece, first_pieces, places, read, replayed
from slaq.errors import SlaqError
from slaq.model import Job, Report

OLD = Path(__file__).parents[1] / "scheduler" / "written_by_0_1_0" / "decisions.log"


def logged(epochs: int = 3) -> bytes:
    state, log = State(cores=4), first_pieces(State(cores=4))
    for number in range(epochs):
        events = [JobJoined(number, Job(f"job-{number}")), JobReported(number, "job-0", (Report(1.0 / (number + 1)),))]
        state, effects = run(state, [*events, EpochEnded(float(number))])
        log += epoch_piece(Epoch([*events, EpochEnded(float(number))], effects))
    return log


def test_a_log_replays_to_the_decisions_it_holds():
    state, epochs = read(io.BytesIO(logged()), "a log")
    steps = list(replayed(state, epochs))
    assert [decided for _, _, decided in steps] == [list(epoch.effects) for epoch, _, _ in steps]
    assert len(steps) == 3


def test_a_log_that_was_cut_off_ends_where_it_is_whole():
    state, epochs = read(io.BytesIO(logged()[:-5]), "a log")
    assert len(list(epochs)) == 2
    assert state.cores == 4


def test_any_epoch_is_read_from_its_place_and_one_that_was_cut_off_has_none():
    log = logged()
    source = io.BytesIO(log)
    header, state, *epochs = places(source)
    assert (header, len(epochs)) == (0, 3)
    assert state < epochs[0]
    _, read_through = read(io.BytesIO(log), "a log")
    encoded = [msgspec.msgpack.encode(epoch) for epoch in read_through]
    assert [msgspec.msgpack.encode(epoch_at(source, place, "a log")) for place in epochs] == encoded
    assert places(io.BytesIO(log[:-5])) == [header, state, *epochs[:2]]
    assert places(io.BytesIO(b"")) == []


def test_a_log_of_an_earlier_version_is_refused_by_the_name_of_that_version():
    with OLD.open("rb") as source, pytest.raises(SlaqError, match=r"written by SLAQ 0\.1\.0 in format 1"):
        read(source, str(OLD))


def test_a_log_of_a_later_version_is_refused_by_the_name_of_that_version():
    piece = zlib.compress(msgspec.msgpack.encode({"log_format": 9, "written_by": "7.0"}))
    with pytest.raises(SlaqError, match=r"the\.log was written by SLAQ 7\.0 in format 9"):
        read(io.BytesIO(len(piece).to_bytes(4, "big") + piece), "the.log")


@pytest.mark.parametrize("content", [b"", b"hello, world", b"\0\0\0\5hello", logged()[:20]])
def test_anything_else_is_refused(content):
    with pytest.raises(SlaqError, match="x is not a decision log"):
        read(io.BytesIO(content), "x")


def test_damage_in_the_middle_is_told_when_it_is_reached():
    log = bytearray(logged())
    log[len(first_pieces(State(cores=4))) + 10] ^= 0xFF
    _, epochs = read(io.BytesIO(bytes(log)), "x")
    with pytest.raises(SlaqError, match="x is not a decision log"):
        list(epochs)

"""The fuzzer: what it found once stays mended, and a short run of every target finds nothing."""

import zlib

import msgspec
import pytest

from slaq.bench._fuzz_files import file_targets
from slaq.engine import State, log
from slaq.errors import SlaqError

RUN = {"policy": "fair", "round": 0, "cores": 2, "makespan_s": 1.0, "held_core_s": 1.0, "cpu_s": None}
JOB = {"name": "a", "algorithm": "LogReg", "arrived_s": 0.0, "ended_s": 2.0, "times_s": [1.0], "losses": [1.0]}


def stream(stages: list, **job: object) -> bytes:
    return msgspec.json.encode([{**RUN, "driver_cpu_s": 0.0, "jobs": [{**JOB, **job}], "stages": stages}])


def pieces(*contents: bytes) -> bytes:
    packed = [zlib.compress(content) for content in contents]
    return b"".join(len(piece).to_bytes(4, "big") + piece for piece in packed)


HEADER = msgspec.msgpack.encode(log.Header(log.FORMAT, "0.2.0"))
FOUND = [
    ("conf files", b"weight = " + b"9" * 5000),
    ("conf files", b"weight = " + b"9" * 400),
    ("conf files", b"[tuning]\nworth_end = " + b"9" * 400),
    ("conf files", b"token_file = '~nobody-here/token'"),
    ("conf files", b"weight = " + b"[" * 5000),
    ("decision logs", pieces(b"\xa1\xff")),
    ("decision logs", pieces(HEADER, b"\x81\xa1\xff\x01")),
    ("decision logs", pieces(HEADER, msgspec.msgpack.encode(State()), b"\x92\x91\x91\xa1\xff\x90")),
    ("journals", b'{"id": "1"\n'),
    ("journals", b"\xff\xfe\n"),
    ("recordings", b'["\xff"]'),
    ("recordings", stream([["a", 0.0, [0.0, 1.0], [1.0]]])),
    ("recordings", stream([["a", 0.0, [0.0], [1.0]]], times_s=[])),
    ("recordings", stream([["a", 0.0, [], []]])),
    ("loss curves", b'[{"losses": {"a": 1}}]'),
    ("loss curves", b'[{"losses": 3}]'),
    ("loss curves", b'[{"losses": [2.0, 1.0], "params": 3}]'),
    ("loss curves", b'[{"losses": [2.0, 1.0], "kind": []}]'),
    ("loss curves", b'[{"losses": ' + b"[" * 5000),
]


@pytest.mark.parametrize(("name", "content"), FOUND)
def test_a_file_that_makes_no_sense_is_one_sentence(tmp_path, name, content):
    (target,) = [target for target in file_targets(tmp_path) if target.name == name]
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(SlaqError, match=r"\w{3}"):
        target.read(file)


def test_a_log_that_unpacks_to_more_than_memory_holds_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(log, "LARGEST_PIECE", 1_000_000)
    (target,) = [target for target in file_targets(tmp_path) if target.name == "decision logs"]
    (tmp_path / "bomb").write_bytes(pieces(HEADER, bytes(10_000_000)))
    with pytest.raises(SlaqError, match="1000000 bytes"):
        target.read(tmp_path / "bomb")

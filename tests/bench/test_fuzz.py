"""The fuzzer: what it found once stays mended, and a short run of every target finds nothing."""

import zlib
from random import Random

import msgspec
import pytest

from slaq.bench._fuzz_files import file_targets
from slaq.bench._fuzz_requests import Requests
from slaq.bench._fuzzing import BrokenError, run
from slaq.bench._request_grammar import MARK, Asked, RequestGrammar
from slaq.bench.fuzz import SHARES, fuzz
from slaq.cli import root
from slaq.engine import State, log
from slaq.errors import SlaqError
from slaq.scheduler.guard import respond

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
    ("decision logs", pieces(HEADER, msgspec.msgpack.encode(State(fair_users=True, memory="x")))),
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


@pytest.fixture(scope="module")
def tallies():
    return {tally.name: tally for tally in fuzz(root, 8000, seed=1)}


def test_a_short_run_finds_nothing(tallies):
    assert [told for tally in tallies.values() for told in tally.told] == []
    assert sum(tally.cases for tally in tallies.values()) >= 8000
    assert tallies.keys() == SHARES.keys()


@pytest.mark.parametrize(
    ("name", "outcomes"),
    [
        ("requests", {"200", "204", "400", "401", "403", "404", "405", "413", "415", "426"}),
        ("requests without tokens", {"200", "400", "403", "404"}),
        ("sockets", {"200", "400"}),
        ("command lines", {"done", "read", "refused"}),
        ("past fits", {"read", "set aside"}),
        *((name, {"read", "refused"}) for name in ("conf files", "decision logs", "journals", "recordings")),
    ],
)
def test_right_and_wrong_cases_are_drawn(tallies, name, outcomes):
    assert tallies[name].outcomes.keys() >= outcomes


def test_the_same_seed_draws_the_same_cases():
    grammar = RequestGrammar(tokens=True), RequestGrammar(tokens=True)
    first, second = ([each.draw(Random(f"1 {n}")) for n in range(200)] for each in grammar)
    assert first == second


def test_what_breaks_is_told_with_the_number_of_its_case():
    class Breaks:
        name = "breaks"

        def case(self, random: Random) -> str:
            return ["fine"][random.randrange(2)]

        def check(self) -> None:
            raise BrokenError("it is gone")

    tally = run(Breaks(), 10, seed=3)
    assert tally.broken > 1
    assert "IndexError" in tally.told[0]
    assert "breaks case 9: " in tally.told[-1]


def test_a_server_error_a_leak_and_a_change_by_a_refusal_are_seen():
    target = Requests(tokens=True)
    honest = target.app
    asked = [Asked("GET", b"/v1/status", (), (b"",), "/v1/status", known, False) for known in (True, False)]

    def answering(status: int, body: bytes = b"{}"):
        async def app(_, __, send):
            await respond(send, status, body)

        return app

    async def forgetful(scope, receive, send):
        target.scheduler.intake.beats += 1
        await honest(scope, receive, send)

    for app, request, why in (
        (answering(500), asked[0], "answered with 500"),
        (answering(200), asked[1], "without a token"),
        (answering(200, MARK), asked[0], "another user's job"),
        (answering(200, b'["\x1b"]'.replace(b"\x1b", b"\\u001b")), asked[0], "the text"),
        (forgetful, asked[1], "changed the state"),
    ):
        target.app, target.grammar.draw = app, lambda _, request=request: request
        with pytest.raises(BrokenError, match=why):
            target.case(Random(1))
    target.close()

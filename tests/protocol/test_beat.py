"""The messages: what arrives as it was sent, and what is refused."""

import math
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaq.protocol import PROTOCOL, Answer, Beat, Declaration, Ended, JobBeat, Report, Standing, job_key

numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False)
reports = st.builds(Report, numbers, st.none() | st.integers(0, 10**6), numbers, numbers)


def over_the_wire(message):
    return msgspec.json.decode(msgspec.json.encode(message), type=type(message))


@given(st.lists(reports, max_size=5), st.integers(0, 9))
def test_reports_arrive_as_they_were_sent(sent, first):
    beat = Beat(PROTOCOL, "app123", 1, jobs=[JobBeat("1", Declaration("fit"), first, sent, Ended("failed", 5.0))])
    assert over_the_wire(beat) == beat


@pytest.mark.parametrize("loss", [math.nan, math.inf, -math.inf])
def test_a_loss_that_is_not_finite_arrives_as_none(loss):
    beat = Beat(PROTOCOL, "app123", 1, jobs=[JobBeat("1", reports=[Report(loss, 3)])])
    assert over_the_wire(beat).jobs[0].reports == [Report(None, 3)]


def test_grants_and_standings_are_exact():
    standings = {"a": Standing(1 / 3, 4.5, 9.0, 1e6)}
    answer = Answer(PROTOCOL, 7, 3, 10.0, 1.0, {"a": 1 / 3, "b": 0.0}, standings=standings)
    assert over_the_wire(answer) == answer


@pytest.mark.parametrize(
    "wrong",
    [
        {"app": "x"},
        {"app": "has-hyphen"},
        {"app": "../../etc"},
        {"app": "app123\n"},
        {"seq": -1},
        {"seq": 1.5},
        {"name": "n" * 201},
        {"cores": -1},
        {"cores": "8"},
        {"jobs": [{"id": "<script>"}]},
        {"jobs": [{"id": "a\n"}]},
        {"jobs": [{"id": "a", "declared": {"weight": 0}}]},
        {"jobs": [{"id": "a", "declared": {"max_cores": 0.5}}]},
        {"jobs": [{"id": "a", "reports": [[1.0]] * 257}]},
        {"jobs": [{"id": "a", "reports": [["1.0"]]}]},
        {"jobs": [{"id": "a", "ended": {"outcome": "exploded"}}]},
        {"jobs": [{"id": str(i)} for i in range(257)]},
    ],
)
def test_what_does_not_fit_is_refused(wrong):
    good = {"protocol": PROTOCOL, "app": "app123", "seq": 1}
    msgspec.json.decode(msgspec.json.encode(good), type=Beat)
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(msgspec.json.encode(good | wrong), type=Beat)


def messages(kind):
    """A message type and those of all messages in it."""
    if hasattr(kind, "__struct_fields__"):
        yield kind
        parts = [field.type for field in msgspec.structs.fields(kind)]
    else:
        parts = get_args(kind)
    for part in parts:
        yield from messages(part)


REQUIRED = {
    "Beat": {"protocol", "app", "seq"},
    "Answer": {"protocol", "incarnation", "epoch", "lease_s", "next_beat_s"},
    "JobBeat": {"id"},
    "Report": {"loss"},
    "Standing": {"reached", "to_90", "to_95", "to_end"},
}
"""What version 2 requires. A version that requires more is understood by no older one."""


def test_whatever_is_added_has_a_default():
    for kind in {*messages(Beat), *messages(Answer)}:
        required = {one.name for one in msgspec.structs.fields(kind) if one.required}
        assert required == REQUIRED.get(kind.__name__, set()), kind


def test_a_newer_peer_may_say_more_at_any_depth():
    more = {"colour": {"deep": [1, 2]}}
    report = [0.5, 1, None, None, "more"]
    job = {"id": "1", "declared": {"name": "fit", **more}, "reports": [report], "ended": {"at": 5.0, **more}, **more}
    wire = {"protocol": 3, "oldest": 2, "app": "app123", "seq": 1, "jobs": [job], **more}
    known = Beat(3, "app123", 1, jobs=[JobBeat("1", Declaration("fit"), 0, [Report(0.5, 1)], Ended(at=5.0))], oldest=2)
    assert msgspec.json.decode(msgspec.json.encode(wire), type=Beat) == known
    said = {"protocol": 3, "oldest": 2, "incarnation": 1, "epoch": 1, "lease_s": 5.0, "next_beat_s": 1.0, **more}
    assert msgspec.json.decode(msgspec.json.encode(said), type=Answer) == Answer(3, 1, 1, 5.0, 1.0, oldest=2)


def test_two_jobs_never_share_a_key():
    assert job_key("abcdef", "1-2") != job_key("abcdef1", "2")

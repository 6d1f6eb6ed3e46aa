"""Wishes: what users may write, and what they are told if it makes no sense."""

import msgspec
import pytest

from slaq.errors import SlaqError
from slaq.protocol import Declaration
from slaq.protocol.wishes import seconds, wished
from slaq.records import NO_WISH, Wish


@pytest.mark.parametrize(
    ("given", "wish"),
    [
        ((None, None, None), NO_WISH),
        (("20min", None, None), Wish(1200.0)),
        ((90, "time-sensitive", "te"), Wish(90.0, "time-sensitive", "te")),
        ((None, "insensitive", None), Wish(None, "insensitive")),
        ((None, "2, 0.5, 600", "best-effort"), Wish(None, (2.0, 0.5, 600.0), "best-effort")),
        ((None, (1, 0, 0), None), Wish(None, (1.0, 0.0, 0.0))),
    ],
)
def test_what_is_written_is_what_travels(given, wish):
    assert wished(*given) == wish
    declared = Declaration(wish=wish)
    assert msgspec.json.decode(msgspec.json.encode(declared), type=Declaration) == declared


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("soon", None, None), "the deadline is 'soon'; give the time"),
        ((0, None, None), "the deadline is 0; give"),
        ((float("nan"), None, None), "the deadline is nan; give"),
        ((True, None, None), "the deadline is True; give"),
        ((None, "fast", None), "the utility is 'fast'; give one of time-critical"),
        ((None, "1,2", None), "three numbers"),
        ((None, "0,1,60", None), "three numbers"),
        ((None, (1.0, float("inf"), 2.0), None), "three numbers"),
        ((None, 7, None), "three numbers"),
        ((None, "time-critical", None), "there is no deadline; give one"),
        (("1h", "1,1,60", None), "leave the deadline out"),
        ((None, None, "urgent"), "the class is 'urgent'; give te or best-effort"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_remedy(given, message):
    with pytest.raises(SlaqError, match=message):
        wished(*given)


def test_times_are_sparks():
    assert [seconds(text) for text in ("500ms", "20min", "1.5h", "2d", "7")] == [0.5, 1200.0, 5400.0, 172_800.0, None]


def test_a_wish_goes_before_that_of_its_application_and_what_begins_later_has_less_time():
    application = Wish(600.0, "time-sensitive", "te")
    assert NO_WISH.over(application) == application
    assert Wish(None, "insensitive").over(application) == Wish(None, "insensitive", "te")
    assert Wish(kind="best-effort").over(application) == Wish(600.0, "time-sensitive", "best-effort")
    assert Wish(600.0).after(100.0) == Wish(500.0)
    assert Wish(None, (1.0, 0.5, 60.0)).after(100.0) == Wish(None, (1.0, 0.5, 0.0))

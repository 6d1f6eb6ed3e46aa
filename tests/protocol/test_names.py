"""Names: what a message can carry, and what a terminal can show."""

import pytest

from slaq.protocol.names import printable, sendable


def test_a_lone_surrogate_is_not_sent():
    assert sendable("caf\u00e9 \U0001f600 \ud800") == "caf\u00e9 \U0001f600 ?"


@pytest.mark.parametrize("name", ["\x1b[2J", "a\nb", "\u202eevil", "\x00", "\ud800"])
def test_what_could_control_a_terminal_is_not_printed(name):
    assert printable(name).isprintable()


def test_other_names_stay_as_they_are():
    assert printable("ma\u00f1ana 7 \u00b7 x") == "ma\u00f1ana 7 \u00b7 x"
